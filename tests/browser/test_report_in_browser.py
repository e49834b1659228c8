"""The report in a real browser: it draws, responds, and makes no network requests.

`make test-browser` installs Debian's chromium and selenium and runs this; screenshots are left in
report-screenshots/.
"""

import json

import numpy as np
import pytest

pytestmark = pytest.mark.browser
pytest.importorskip("selenium")

from browsing import (  # noqa: E402
    By,
    Select,
    WebDriverWait,
    colours_drawn,
    errors_of,
    every_width,
    open_page,
    point_to,
    requests_of,
    save_screenshot,
)

import vicinal  # noqa: E402
from vicinal.report import Explorer  # noqa: E402
from vicinal.report._html.colours import in_base64, page_bytes  # noqa: E402


@pytest.fixture(scope="module")
def large_report(tmp_path_factory, report):
    """The same page with its data enlarged to 100,000 rows, to test the drawing only."""
    path = tmp_path_factory.mktemp("large") / "large.html"
    path.write_text(
        enlarged(report.read_text(encoding="utf-8"), 100_000, in_base64), encoding="utf-8"
    )
    return path


@pytest.fixture(scope="module")
def million(report):
    """The same page with a million rows, as `vicinal explore` serves it."""
    arrays = {}

    def keep(values, dtype):
        arrays[str(len(arrays))] = page_bytes(values, dtype)
        return f"array/{len(arrays) - 1}"

    page = enlarged(report.read_text(encoding="utf-8"), 1_000_000, keep)
    page = page.replace("connect-src &#x27;none&#x27;", "connect-src &#x27;self&#x27;")
    with Explorer(page, arrays) as server:
        yield server.url


def enlarged(page, n, pack):
    """A page whose arrays are replaced by random ones of ``n`` rows."""
    head, _, rest = page.partition('id="data">')
    data, _, tail = rest.partition("</script>")
    content = json.loads(data)
    rng = np.random.default_rng(0)
    content["n"] = n
    content["ids"] = content["sprites"] = None
    content["maps"] = content["maps"][:2]
    content["colours"] = content["colours"][:6]
    for entry in content["maps"]:
        for axis in "xy":
            entry[axis] = pack(rng.integers(0, 65536, n), np.uint16)
    for colour in content["colours"]:
        if "codes" in colour:
            codes = rng.integers(0, len(colour["names"]) + 1, n)
            colour["codes"] = pack(codes, f"u{colour['bytes']}")
        else:
            colour["values"] = pack(
                rng.uniform(colour["low"], colour["high"], n), f"f{colour['bytes']}"
            )
    layers = content["layers"]
    layers["codes"] = [
        pack(rng.integers(0, k + 1, n), f"u{layers['bytes']}") for k in layers["numbers"]
    ]
    layers["codes"][layers["reported"]] = content["colours"][0]["codes"]
    nearest = content["nearest"]
    nearest["rows"] = pack(rng.integers(0, n, (n, nearest["k"])), np.uint32)
    return f'{head}id="data">{json.dumps(content)}</script>{tail}'


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
    (nearest,) = panel.find_elements(By.TAG_NAME, "ol")
    assert len(nearest.find_elements(By.TAG_NAME, "li")) == 8
    assert panel.find_elements(By.CLASS_NAME, "sprite")
    save_screenshot(driver, f"click-{width}")
    # A row in the list can be selected too.
    first = nearest.find_element(By.CLASS_NAME, "row")
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


def test_search_and_theme_work(driver, report):
    open_page(driver, report, 1440)
    box = driver.find_element(By.ID, "find")
    box.send_keys("digit 123\n")
    assert driver.find_element(By.CSS_SELECTOR, "#row h3").text == "digit 123"
    background = "return getComputedStyle(document.body).backgroundColor"
    light = driver.execute_script(background)
    driver.execute_script("document.getElementById('theme').click()")
    assert driver.execute_script(background) != light
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
    assert len(driver.find_elements(By.CSS_SELECTOR, "#row ol .row")) == 8
    save_screenshot(driver, "large")
    assert errors_of(driver) == []


@every_width
def test_a_notebook_shows_the_report_and_its_links_stay_inside(driver, tmp_path, downloads, width):
    X = np.random.default_rng(0).normal(size=(60, 2))
    frame = vicinal.perceive(X, n_clusters=2, sample=50)._repr_html_()
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>Notebook</title>{frame}", encoding="utf-8")
    driver.get(f"file://{path}")
    driver.switch_to.frame(driver.find_element(By.TAG_NAME, "iframe"))
    WebDriverWait(driver, 60).until(lambda d: d.execute_script("return scatter.frameCount > 0"))
    driver.execute_script("document.querySelector('nav a[href=\"#neighbours\"]').click()")
    WebDriverWait(driver, 20).until(lambda d: d.execute_script("return scrollY > 500"))
    assert driver.find_element(By.ID, "neighbours").is_displayed()
    reached = "try { return parent.document.title } catch { return 'isolated' }"
    assert driver.execute_script(reached) == "isolated"
    driver.execute_script(
        "setSelection(maskOf([1, 4])); document.getElementById('save-csv').click()"
    )
    exported = downloads / "selection.csv"
    WebDriverWait(driver, 20).until(lambda _: exported.exists() and exported.stat().st_size > 0)
    exported.unlink()
    driver.switch_to.default_content()
    assert errors_of(driver) == []


def test_a_million_rows_are_drawn_picked_selected_and_filtered(driver, million):
    open_page(driver, million, 1440)
    _, filled, _ = colours_drawn(driver)
    assert filled > 100_000
    row = driver.execute_script("return scatter.pick(...scatter.pixelOf(654321))")
    assert row >= 0
    before = driver.execute_script("return scatter.mapAt(10, 10)")
    driver.execute_script("scatter.zoomAt(20, 10, 10); scatter.pan(30, 0)")
    assert driver.execute_script("return scatter.mapAt(40, 10)") == pytest.approx(before)
    driver.execute_script(
        "scatter.showAll(); selectInside(boxAround([200, 100], [400, 300]), false)"
    )
    n_inside = driver.execute_script("return state.selected.reduce((a, b) => a + b, 0)")
    width, height = driver.execute_script("return scatter.extent()")
    assert n_inside == pytest.approx(1e6 * 200 * 200 / (width * height), rel=0.05)
    assert f"{n_inside:,} selected rows" in driver.find_element(By.ID, "summary").text
    driver.execute_script("findRow('777777')")
    assert driver.find_element(By.CSS_SELECTOR, "#row h3").text == "row 777777"
    driver.execute_script("setFilters([{ kind: 'category', colour: clusters, code: 1 }])")
    assert "pass the filters" in driver.find_element(By.ID, "status").text
    driver.find_element(By.ID, "map").location_once_scrolled_into_view  # noqa: B018
    save_screenshot(driver, "million")
    assert errors_of(driver) == []


# Moves the map in every frame for two seconds, and counts the frames.
COUNT_FRAMES = """
const done = arguments[arguments.length - 1], start = performance.now();
let n = 0;
function step(now) {
  scatter.pan(n % 20 < 10 ? 6 : -6, 3);
  n++;
  if (now - start < 2000) requestAnimationFrame(step);
  else done(n);
}
requestAnimationFrame(step);
"""


def test_a_sample_of_a_million_rows_is_drawn_while_the_map_moves(driver, million):
    open_page(driver, million, 1440)
    n_fluent = driver.execute_async_script(COUNT_FRAMES)
    assert driver.execute_script("return scatter.nMoving") < 1_000_000
    WebDriverWait(driver, 60).until(lambda d: not d.execute_script("return scatter.moving"))
    drawn = driver.execute_script("scatter.showAll(); return scatter.frameCount")
    WebDriverWait(driver, 60).until(lambda d: d.execute_script("return scatter.frameCount") > drawn)
    _, filled, _ = colours_drawn(driver)
    assert filled > 100_000
    # Without the sample, as browsers without large indices draw it.
    driver.execute_script("scatter.sampled = undefined")
    assert n_fluent > 2 * driver.execute_async_script(COUNT_FRAMES)
    assert errors_of(driver) == []
