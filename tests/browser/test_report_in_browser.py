"""The report in a real browser: it draws, responds, and makes no network requests.

`make test-browser` installs Debian's chromium and selenium and runs this; screenshots are left in
report-screenshots/.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.browser
webdriver = pytest.importorskip("selenium.webdriver")

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402

import vicinal  # noqa: E402

SCREENSHOTS = Path("report-screenshots")
DRIVER, BROWSER = shutil.which("chromedriver"), shutil.which("chromium")
if DRIVER is None or BROWSER is None:
    pytest.skip("needs Debian's chromium and chromium-driver", allow_module_level=True)

every_width = pytest.mark.parametrize("width", [390, 1440])


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    digits = load_digits()
    result = vicinal.perceive(
        digits.data[:500],
        labels=digits.target[:500],
        ids=[f"digit {i}" for i in range(500)],
        images=digits.images[:500],
        n_clusters=7,
    )
    return result.to_html(tmp_path_factory.mktemp("report") / "digits.html")


@pytest.fixture(scope="module")
def large_report(tmp_path_factory, report):
    """The same page with its data enlarged to 100,000 rows, to test the drawing only."""
    page = report.read_text(encoding="utf-8")
    head, _, rest = page.partition('id="data">')
    data, _, tail = rest.partition("</script>")
    content = json.loads(data)
    rng = np.random.default_rng(0)
    n = content["n"] = 100_000
    content["ids"] = content["sprites"] = None

    def pack(values):
        import base64

        return base64.b64encode(values.tobytes()).decode()

    for entry in content["maps"]:
        for axis in "xy":
            entry[axis] = pack(rng.integers(0, 65536, n).astype("<u2"))
    for colour in content["colours"]:
        if "codes" in colour:
            codes = rng.integers(0, len(colour["names"]) + 1, n)
            colour["codes"] = pack(codes.astype(f"<u{colour['bytes']}"))
        else:
            values = rng.uniform(colour["low"], colour["high"], n)
            colour["values"] = pack(values.astype(f"<f{colour['bytes']}"))
    content["nearest"]["rows"] = pack(np.arange(500).astype("<u4"))
    content["nearest"]["nearestSampled"] = pack(rng.integers(0, 500, n).astype("<u4"))
    path = tmp_path_factory.mktemp("large") / "large.html"
    path.write_text(f'{head}id="data">{json.dumps(content)}</script>{tail}', encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def driver():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--hide-scrollbars",
        "--enable-unsafe-swiftshader",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    browser.set_script_timeout(120)
    SCREENSHOTS.mkdir(exist_ok=True)
    yield browser
    browser.quit()


def open_page(driver, path, width, *, dark=False, query=""):
    driver.get_log("performance")
    driver.get_log("browser")
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    reduced_motion = {"name": "prefers-reduced-motion", "value": "reduce"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, reduced_motion]})
    driver.get(f"file://{path}{query}")
    WebDriverWait(driver, 60).until(lambda d: d.execute_script("return scatter.frameCount > 0"))


def errors_of(driver):
    return [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]


def requests_of(driver):
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
        and not message["params"]["request"]["url"].startswith("data:")
    ]


def save_screenshot(driver, name):
    driver.save_screenshot(str(SCREENSHOTS / f"{name}.png"))


def colours_drawn(driver):
    """Distinct colours among the pixels of the scatter, and how many are not empty."""
    return driver.execute_script(
        """
        const copy = document.createElement("canvas");
        copy.width = scatter.canvas.width; copy.height = scatter.canvas.height;
        const pen = copy.getContext("2d");
        pen.drawImage(scatter.canvas, 0, 0);
        const data = pen.getImageData(0, 0, copy.width, copy.height).data;
        const seen = new Set(); let filled = 0;
        for (let i = 0; i < data.length; i += 4) {
          if (data[i + 3] > 200) { filled++; seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]); }
        }
        return [seen.size, filled, [...seen].slice(0, 4000)];
        """
    )


def point_to(driver, row):
    """Move the mouse over a row of the map; returns the action chain, for more actions."""
    stage = driver.find_element(By.ID, "scatter")
    driver.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", stage
    )
    x, y = driver.execute_script("return scatter.pixelOf(arguments[0])", row)
    box = stage.rect
    actions = ActionChains(driver)
    actions.move_to_element_with_offset(stage, x - box["width"] / 2, y - box["height"] / 2)
    return actions


@every_width
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_opens_without_errors_or_requests(driver, report, width, dark):
    open_page(driver, report, width, dark=dark)
    assert driver.execute_script("return scatter.gl !== null")
    n_colours, filled, _ = colours_drawn(driver)
    assert n_colours >= 7
    assert filled > 500
    save_screenshot(driver, f"top-{width}-{'dark' if dark else 'light'}")
    driver.find_element(By.ID, "map").location_once_scrolled_into_view  # noqa: B018
    save_screenshot(driver, f"map-{width}-{'dark' if dark else 'light'}")
    assert errors_of(driver) == []
    assert requests_of(driver) == [f"file://{report}"]


@every_width
def test_the_page_does_not_scroll_horizontally(driver, report, width):
    open_page(driver, report, width)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("theme_source", ["by the button", "by the system"])
def test_print_is_light_and_complete(theme_source, driver, report):
    a4 = 717  # pixels between the margins of the browser
    open_page(driver, report, a4, dark=theme_source == "by the system")
    if theme_source == "by the button":
        driver.execute_script("document.documentElement.dataset.theme = 'dark'")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    colours = "getComputedStyle(document.documentElement).getPropertyValue('--%s')"
    names = ("ground", "ink", "accent", "shade", "noise")
    values = [driver.execute_script("return " + colours % name).strip() for name in names]
    assert values == ["#fff", "#000", "#2c63b8", "44, 99, 184", "#a3a9b0"]
    widths = driver.execute_script(
        "return [...document.querySelectorAll('table')].map((t) => t.getBoundingClientRect().right)"
    )
    assert max(widths) <= a4
    assert not driver.find_element(By.ID, "row").is_displayed()
    save_screenshot(driver, f"paper-{theme_source.split()[-1]}")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    driver.execute_script("selectRow(3)")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert driver.find_element(By.ID, "row").is_displayed()
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@every_width
def test_hovering_identifies_the_row_and_clicking_lists_its_nearest_rows(driver, report, width):
    open_page(driver, report, width)
    # Another row may be drawn on top of row 7.
    row = driver.execute_script("return scatter.pick(...scatter.pixelOf(7))")
    point_to(driver, 7).perform()
    tip = driver.find_element(By.ID, "tip")
    assert tip.is_displayed()
    assert f"digit {row}" in tip.text
    assert "noise score" in tip.text
    save_screenshot(driver, f"hover-{width}")
    point_to(driver, 7).click().perform()
    panel = driver.find_element(By.ID, "row")
    assert panel.find_element(By.TAG_NAME, "h3").text == f"digit {row}"
    before, after = panel.find_elements(By.TAG_NAME, "ol")
    assert len(before.find_elements(By.TAG_NAME, "li")) == 8
    assert len(after.find_elements(By.TAG_NAME, "li")) == 8
    assert panel.find_elements(By.CLASS_NAME, "sprite")
    save_screenshot(driver, f"click-{width}")
    # A row in the list can be selected too.
    first = before.find_element(By.CLASS_NAME, "row")
    name = first.text
    driver.execute_script("arguments[0].click()", first)
    assert panel.find_element(By.TAG_NAME, "h3").text == name
    assert errors_of(driver) == []


@every_width
def test_colours_and_maps_can_be_switched(driver, report, width):
    open_page(driver, report, width)
    _, _, by_cluster = colours_drawn(driver)
    colour = Select(driver.find_element(By.ID, "colour-choice"))
    names = [option.text for option in colour.options]
    assert names[:3] == ["cluster", "noise score", "known label"]
    drawn = driver.execute_script("return scatter.frameCount")
    colour.select_by_visible_text("noise score")
    WebDriverWait(driver, 20).until(lambda d: d.execute_script("return scatter.frameCount") > drawn)
    _, _, by_score = colours_drawn(driver)
    assert set(by_score) != set(by_cluster)
    assert driver.find_elements(By.CSS_SELECTOR, "#scale .ramp")
    before = driver.execute_script("return scatter.pixelOf(3)")
    for option in Select(driver.find_element(By.ID, "map-choice")).options[1:]:
        Select(driver.find_element(By.ID, "map-choice")).select_by_visible_text(option.text)
        assert driver.execute_script("return scatter.pixelOf(3)") != before
    save_screenshot(driver, f"colour-{width}")
    assert errors_of(driver) == []


def test_values_are_exact_and_long_legends_are_truncated(driver, tmp_path):
    X = np.random.default_rng(0).random((300, 2))
    X[3, 0], X[4, 0] = 50.0, 2019.25
    names = [f"class {i:03}" for i in range(300)]
    result = vicinal.perceive(X, labels=names, n_clusters=1, sample=60, scaling="none")
    open_page(driver, result.to_html(tmp_path / "r.html"), 1440)
    Select(driver.find_element(By.ID, "colour-choice")).select_by_visible_text("column 1")
    facts = "return factsOf(arguments[0]).join('; ')"
    assert "known label: class 003; column 1: 50" in driver.execute_script(facts, 3)
    assert "known label: class 299" in driver.execute_script(facts, 299)
    assert "column 1: 2019.25" in driver.execute_script(facts, 4)
    Select(driver.find_element(By.ID, "colour-choice")).select_by_visible_text("known label")
    assert len(driver.find_elements(By.CSS_SELECTOR, "#scale .names button")) == 40
    assert driver.find_element(By.ID, "scale").text.endswith("and 260 more")
    assert errors_of(driver) == []


@every_width
def test_a_long_word_in_the_legend_wraps(driver, tmp_path, width):
    X = np.random.default_rng(0).normal(size=(60, 2))
    labels = ["x" * 300, "short"] * 30
    path = vicinal.perceive(X, labels=labels, n_clusters=2).to_html(tmp_path / "long.html")
    open_page(driver, path, width)
    choice = Select(driver.find_element(By.ID, "colour-choice"))
    choice.select_by_visible_text("known label")
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width


def test_a_legend_entry_isolates_its_rows(driver, report):
    open_page(driver, report, 1440)
    _, before, _ = colours_drawn(driver)
    driver.execute_script("document.querySelector('#scale .names button').click()")
    WebDriverWait(driver, 20).until(lambda d: colours_drawn(d)[1] < before / 2)


def test_zoom_keeps_the_position_under_the_pointer(driver, report):
    open_page(driver, report, 1440)
    position = "return scatter.mapAt(200, 150)"
    before = driver.execute_script(position)
    driver.execute_script("scatter.zoomAt(3, 200, 150)")
    np.testing.assert_allclose(driver.execute_script(position), before)
    driver.execute_script("document.querySelector('[data-zoom=\"0\"]').click()")
    assert driver.execute_script("return scatter.zoom") == 1


def test_search_theme_and_matrices_work(driver, report):
    open_page(driver, report, 1440)
    box = driver.find_element(By.ID, "find")
    box.send_keys("digit 123\n")
    assert driver.find_element(By.CSS_SELECTOR, "#row h3").text == "digit 123"
    background = "return getComputedStyle(document.body).backgroundColor"
    light = driver.execute_script(background)
    driver.execute_script("document.getElementById('theme').click()")
    assert driver.execute_script(background) != light
    widths = driver.execute_script(
        "return [...document.querySelectorAll('.matrix')].map(c => c.width)"
    )
    assert len(widths) == 2
    assert min(widths) > 300
    driver.find_element(By.ID, "similarity").location_once_scrolled_into_view  # noqa: B018
    save_screenshot(driver, "similarity")
    assert errors_of(driver) == []


def test_without_webgl_the_plain_canvas_draws(driver, report):
    open_page(driver, report, 1440, query="?plain")
    assert driver.execute_script("return scatter.gl === null")
    n_colours, filled, _ = colours_drawn(driver)
    assert n_colours >= 7
    assert filled > 500
    assert errors_of(driver) == []


def test_100_000_rows_are_drawn_and_picked_quickly(driver, large_report):
    open_page(driver, large_report, 1440)
    _, filled, _ = colours_drawn(driver)
    assert filled > 50_000
    row = driver.execute_script("return scatter.pick(...scatter.pixelOf(54321))")
    assert row >= 0
    # Each pick visits a few grid cells, not all rows.
    elapsed = driver.execute_script(
        "const s = performance.now(); for (let i = 0; i < 100; i++) scatter.pick(...scatter.pixelOf(i)); "
        "return performance.now() - s"
    )
    assert elapsed < 1000
    point_to(driver, 54321).click().perform()
    assert "sample of 500" in driver.find_element(By.ID, "row").text
    save_screenshot(driver, "large")
    assert errors_of(driver) == []


@every_width
def test_a_notebook_shows_the_report_and_its_links_stay_inside(driver, tmp_path, width):
    X = np.random.default_rng(0).normal(size=(60, 2))
    frame = vicinal.perceive(X, n_clusters=2, sample=50)._repr_html_()
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>Notebook</title>{frame}", encoding="utf-8")
    driver.get(f"file://{path}")
    driver.switch_to.frame(driver.find_element(By.TAG_NAME, "iframe"))
    WebDriverWait(driver, 60).until(lambda d: d.execute_script("return scatter.frameCount > 0"))
    driver.execute_script("document.querySelector('nav a[href=\"#graphs\"]').click()")
    WebDriverWait(driver, 20).until(lambda d: d.execute_script("return scrollY > 500"))
    assert driver.find_element(By.ID, "graphs").is_displayed()
    driver.switch_to.default_content()
    assert errors_of(driver) == []
