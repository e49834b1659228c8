"""Selecting, filtering, searching, naming, exporting and loading rows, in a real browser."""

import csv
import json
import time
from itertools import pairwise

import numpy as np
import pytest

pytestmark = pytest.mark.browser
pytest.importorskip("selenium")

from browsing import (  # noqa: E402
    ActionChains,
    By,
    Keys,
    Select,
    WebDriverWait,
    both_themes,
    errors_of,
    every_width,
    open_page,
    requests_of,
    save_screenshot,
    selected,
    status,
)

import vicinal  # noqa: E402
from vicinal.report import explore  # noqa: E402

HOSTILE = (
    '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\'`${window.hacked=1}'
)


@pytest.fixture(scope="module")
def explorer(digits_result):
    with explore(digits_result, open_browser=False) as server:
        yield server


@pytest.fixture(params=["report", "server"])
def address(request):
    """The page as a file, and as `vicinal explore` serves it."""
    if request.param == "report":
        return request.getfixturevalue("report")
    return request.getfixturevalue("explorer").url


def click(driver, identifier):
    button = driver.find_element(By.ID, identifier)
    driver.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", button
    )
    button.click()


def drag(driver, points):
    """Press the mouse at the first of some fractions of the map, and move along the others."""
    stage = driver.find_element(By.ID, "scatter")
    driver.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", stage
    )
    size = stage.rect
    offsets = [
        (round((x - 0.5) * size["width"]), round((y - 0.5) * size["height"])) for x, y in points
    ]
    actions = ActionChains(driver, duration=20)
    actions.move_to_element_with_offset(stage, *offsets[0]).click_and_hold()
    for (x0, y0), (x1, y1) in pairwise(offsets):
        actions.move_by_offset(x1 - x0, y1 - y0)
    actions.release().perform()


def inside_pixels(driver, test):
    """Rows whose pixel passes a test in JavaScript of x and y as fractions of the map."""
    return driver.execute_script(
        "const found = []; for (let i = 0; i < data.n; i++) {"
        " const [px, py] = scatter.pixelOf(i), x = px / scatter.width, y = py / scatter.height;"
        f" if ({test}) found.push(i); }} return found"
    )


def downloaded(driver, downloads, name):
    path = downloads / name
    WebDriverWait(driver, 20).until(lambda _: path.exists() and path.stat().st_size > 0)
    text = path.read_text(encoding="utf-8")
    path.unlink()
    return text


@both_themes
@every_width
def test_a_box_selects_the_rows_inside_and_describes_them(driver, address, width, dark):
    open_page(driver, address, width, dark=dark)
    click_tool(driver, "box")
    drag(driver, [(0.2, 0.2), (0.6, 0.7)])
    rows = selected(driver)
    core = inside_pixels(driver, "x > 0.21 && x < 0.59 && y > 0.21 && y < 0.69")
    near = inside_pixels(driver, "x > 0.19 && x < 0.61 && y > 0.19 && y < 0.71")
    assert len(core) > 20
    assert set(core) <= set(rows) <= set(near)
    summary = driver.find_element(By.ID, "summary").text
    assert f"{len(rows)} selected rows" in summary
    assert "What differs from all rows" in summary
    save_screenshot(driver, f"box-{width}-{'dark' if dark else 'light'}")
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert errors_of(driver) == []


def click_tool(driver, name):
    button = driver.find_element(By.CSS_SELECTOR, f"button[data-tool={name}]")
    driver.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", button
    )
    button.click()
    assert button.get_attribute("aria-pressed") == "true"


@every_width
def test_a_lasso_selects_by_its_outline_and_shift_adds(driver, report, width):
    open_page(driver, report, width)
    click_tool(driver, "lasso")
    # A triangle: the corner of its bounding box stays outside.
    drag(driver, [(0.1, 0.1), (0.5, 0.1), (0.1, 0.9), (0.1, 0.1)])
    rows = selected(driver)
    assert rows
    margin = 0.02
    inside = inside_pixels(
        driver, f"x > 0.1 + {margin} && y > 0.1 + {margin} && 2 * x + y < 1.1 - 3 * {margin}"
    )
    outside = inside_pixels(
        driver, f"x < 0.1 - {margin} || y < 0.1 - {margin} || 2 * x + y > 1.1 + 3 * {margin}"
    )
    assert set(inside) <= set(rows)
    assert not set(outside) & set(rows)
    ActionChains(driver).key_down(Keys.SHIFT).perform()
    drag(driver, [(0.6, 0.1), (0.95, 0.1), (0.95, 0.9), (0.6, 0.9)])
    ActionChains(driver).key_up(Keys.SHIFT).perform()
    assert set(rows) < set(selected(driver))
    click(driver, "invert")
    assert not set(rows) & set(selected(driver))
    click(driver, "clear")
    assert selected(driver) == []
    assert not driver.find_element(By.ID, "selection").is_displayed()


@both_themes
@every_width
def test_filters_by_category_and_range_combine(driver, address, width, dark, digits_result):
    open_page(driver, address, width, dark=dark)
    click(driver, "filters")
    Select(driver.find_element(By.ID, "filter-column")).select_by_visible_text("known label")
    Select(driver.find_element(By.ID, "filter-code")).select_by_visible_text("3")
    click(driver, "filter-add")
    is_three = digits_result.data.labels == "3"
    assert status(driver) == f"{is_three.sum()} rows of 500 pass the filters."
    Select(driver.find_element(By.ID, "filter-column")).select_by_visible_text("noise score")
    threshold = float(np.median(digits_result.noise_score[is_three]))
    box = driver.find_element(By.ID, "filter-high")
    box.clear()
    box.send_keys(f"{threshold + 1e-9:.12f}")
    click(driver, "filter-add")
    click(driver, "select-filtered")
    expected = np.flatnonzero(
        is_three & (digits_result.noise_score.astype(np.float32) <= threshold + 1e-9)
    )
    assert selected(driver) == expected.tolist()
    save_screenshot(driver, f"filter-{width}-{'dark' if dark else 'light'}")
    for _ in range(2):
        driver.find_element(By.CSS_SELECTOR, "#filter-list button").click()
    assert driver.execute_script("return state.visible === null")
    assert errors_of(driver) == []


@every_width
def test_search_finds_ids_numbers_and_categories_and_says_if_it_fails(driver, address, width):
    open_page(driver, address, width)
    box = driver.find_element(By.ID, "find")
    for words, answer in {
        "digit 77": "Found digit 77.",
        "no such row": "No row matches “no such row”.",
        "<b>x</b>": "No row matches “<b>x</b>”.",
        "digit 12": "Found digit 12.",
        "499": "Found digit 499.",
        "9999": "No row matches “9999”.",
    }.items():
        box.clear()
        box.send_keys(words + Keys.ENTER)
        assert status(driver) == answer
    box.clear()
    box.send_keys("git 4" + Keys.ENTER)
    assert "rows match “git 4”; they are selected" in status(driver)
    assert len(selected(driver)) == 111
    assert errors_of(driver) == []


@every_width
def test_the_slider_changes_the_number_of_clusters(driver, address, width, digits_result):
    open_page(driver, address, width)
    slider = driver.find_element(By.ID, "layer")
    layers = digits_result.layers
    slider.send_keys(Keys.HOME)
    assert driver.find_element(By.ID, "layer-text").text == "2"
    codes = driver.execute_script("return Array.from(clusters.codes)")
    np.testing.assert_array_equal(np.array(codes) - 1, layers.labels[0])
    entries = driver.find_elements(By.CSS_SELECTOR, "#scale .names button")
    assert len(entries) == len(np.unique(layers.labels[0]))
    for _ in range(layers.reported):
        slider.send_keys(Keys.ARROW_RIGHT)
    assert (
        driver.find_element(By.ID, "layer-text").text
        == f"{layers.numbers[layers.reported]} (reported)"
    )
    assert errors_of(driver) == []


def test_a_row_lists_its_nearest_rows(driver, address, digits_result):
    open_page(driver, address, 1440)
    driver.execute_script("selectRow(5)")
    names = [e.text for e in driver.find_elements(By.CSS_SELECTOR, "#row ol .row")]
    assert names == [f"digit {row}" for row in digits_result.neighborhoods.nearest[5]]
    assert errors_of(driver) == []


@every_width
def test_names_and_selection_are_exported_and_loaded_again(
    driver, address, width, downloads, tmp_path
):
    open_page(driver, address, width)
    driver.execute_script("setSelection(maskOf([3, 5, 8]))")
    driver.execute_script("document.querySelector('#keep details').open = true")
    first = driver.find_element(By.CSS_SELECTOR, "#name-list input")
    first.send_keys('The <i>zeros</i>, "round"' + Keys.TAB)
    assert "The <i>zeros</i>" in driver.find_element(By.ID, "scale").text
    assert "The <i>zeros</i>" in driver.find_element(By.ID, "clusters").text
    click(driver, "save-json")
    exported = downloaded(driver, downloads, "selection.json")
    content = json.loads(exported)
    assert content["rows"] == [3, 5, 8]
    assert content["names"][0]["name"] == 'The <i>zeros</i>, "round"'
    click(driver, "save-csv")
    as_csv = downloaded(driver, downloads, "selection.csv")
    records = list(csv.DictReader(as_csv.splitlines()))
    assert [record["id"] for record in records] == ["digit 3", "digit 5", "digit 8"]
    for name, text in (("selection.json", exported), ("selection.csv", as_csv)):
        open_page(driver, address, width)
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        driver.find_element(By.ID, "load-file").send_keys(str(path))
        WebDriverWait(driver, 20).until(lambda d: status(d) == "Loaded 3 rows.")
        assert selected(driver) == [3, 5, 8]
        if name.endswith("json"):
            assert "The <i>zeros</i>" in driver.find_element(By.ID, "scale").text
    assert errors_of(driver) == []


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.json", "{", "could not be loaded"),
        ("a.json", "null", "not a selection"),
        ("a.json", '{"format": "vicinal selection", "version": 9}', "its version is 9"),
        ("a.json", '{"format": "vicinal selection", "version": 1, "n": 5}', "a table of 5 rows"),
        (
            "a.json",
            '{"format": "vicinal selection", "version": 1, "n": 500, "rows": [500], "names": []}',
            "a row number is not one of this table",
        ),
        (
            "a.json",
            '{"format": "vicinal selection", "version": 1, "n": 500, "rows": ["__proto__"], "names": []}',
            "a row number is not one of this table",
        ),
        ("a.csv", "id,row\n1,2\n", "first column is not “row”"),
        ("a.csv", "row,id\nx,2\n", "a row number is not one of this table"),
    ],
)
def test_a_file_that_does_not_fit_says_why(driver, report, tmp_path, name, text, reason):
    open_page(driver, report, 1440)
    driver.execute_script("setSelection(maskOf([3]))")
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    driver.find_element(By.ID, "load-file").send_keys(str(path))
    WebDriverWait(driver, 20).until(lambda d: reason in status(d))
    assert selected(driver) == [3]
    assert errors_of(driver) == []


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(0)
    table = {
        f"x {HOSTILE}": rng.normal(size=80),
        "y": np.repeat([0.0, 9.0], 40) + rng.normal(size=80),
        f"kind {HOSTILE}": np.array([f"a {HOSTILE}", f"b {HOSTILE}"], dtype=object)[
            np.arange(80) % 2
        ],
        "id": np.array([f"{HOSTILE} {i}" for i in range(80)], dtype=object),
        "text": np.array([f"=cmd|' /C calc'!A0 {HOSTILE} {i}" for i in range(80)], dtype=object),
        f"class {HOSTILE}": np.array(
            [f"l {HOSTILE}", "</script><script>window.hacked=1</script>"] * 40, dtype=object
        ),
    }
    result = vicinal.perceive(table, ids="id", labels=f"class {HOSTILE}", n_clusters=2, sample=60)
    from dataclasses import replace

    return replace(result, origin=result.origin._replace(title=f"{HOSTILE}.csv"))


@pytest.mark.parametrize("kind", ["report", "server"])
def test_hostile_names_run_nothing_anywhere(driver, hostile, kind, tmp_path, downloads):
    with explore(hostile, open_browser=False) as server:
        address = server.url if kind == "server" else hostile.to_html(tmp_path / "hostile.html")
        open_page(driver, address, 1440)
        for choice in ("colour-choice", "filter-column"):
            select = Select(driver.find_element(By.ID, choice))
            for i in range(len(select.options)):
                driver.execute_script(
                    "const s = document.getElementById(arguments[0]); s.selectedIndex = arguments[1];"
                    "s.dispatchEvent(new Event('change'))",
                    choice,
                    i,
                )
        driver.execute_script(
            "document.getElementById('filter-column').selectedIndex = 0;"
            "showFilterInputs(); addFilter(); selectRow(3); showTip(4, 50, 50); selectFiltered();"
            "setName(state.layer, 1, arguments[0]); afterNaming(); showNameInputs(); findRow(arguments[0])",
            HOSTILE,
        )
        driver.execute_script(
            "const text = selectionJson(); names.clear(); loadSelection(text, true);"
        )
        click(driver, "save-csv")
        cells = [
            cell
            for line in csv.reader(downloaded(driver, downloads, "selection.csv").splitlines())
            for cell in line
        ]
        assert any("=cmd" in cell for cell in cells)
        assert not any(cell.startswith(("=", "+", "@")) for cell in cells)
        time.sleep(0.2)
        assert driver.execute_script("return window.hacked") is None
        assert driver.find_elements(By.CSS_SELECTOR, "img, script:not(#data):not([src])")[1:] == []
        assert errors_of(driver) == []
        outside = [
            url
            for url in requests_of(driver)
            if not url.startswith(("blob:", str(address), f"file://{address}"))
        ]
        assert outside == []


def test_the_policy_stops_injected_scripts_and_requests(driver, report):
    open_page(driver, report, 1440)
    blocked = driver.execute_async_script(
        """
        const done = arguments[0];
        document.body.insertAdjacentHTML("beforeend", '<img src="x" onerror="window.hacked=1">');
        const script = document.createElement("script");
        script.textContent = "window.hacked = 1";
        document.body.append(script);
        const later = () => setTimeout(() => done(window.hacked || "blocked"), 200);
        fetch("https://example.com/").then(() => done("fetched"), later);
        """
    )
    assert blocked == "blocked"


def test_the_served_page_requests_only_its_own_server(driver, explorer):
    open_page(driver, explorer.url, 1440)
    urls = requests_of(driver)
    assert len(urls) > 10
    assert all(url.startswith(explorer.url) for url in urls)
    assert errors_of(driver) == []


@pytest.fixture(scope="module")
def dated_report(tmp_path_factory):
    """A report on rows with a date each: the first of a month, and the days after it."""
    rng = np.random.default_rng(0)
    late = np.arange(80) % 2
    start = np.where(late, "2022-03-01", "2020-05-01").astype("datetime64[D]")
    table = {"signup": start + np.arange(80) // 2, "age": 20 + 40 * late + rng.normal(size=80)}
    result = vicinal.perceive(table, n_clusters=2, sample=80)
    return result.to_html(tmp_path_factory.mktemp("dated") / "dated.html")


def test_dates_are_filtered_and_shown_as_dates(driver, dated_report):
    open_page(driver, dated_report, 1440)
    click(driver, "filters")
    Select(driver.find_element(By.ID, "filter-column")).select_by_visible_text("signup")
    limits = [driver.find_element(By.ID, f"filter-{end}") for end in ("low", "high")]
    assert [box.get_attribute("type") for box in limits] == ["date", "date"]
    assert [box.get_attribute("value") for box in limits] == ["2020-05-01", "2022-04-09"]
    driver.execute_script("document.getElementById('filter-high').value = '2020-05-03'")
    click(driver, "filter-add")
    assert status(driver) == "3 rows of 80 pass the filters."
    assert "signup from 2020-05-01 to 2020-05-03" in driver.page_source
    assert (
        driver.execute_script("return valueOf(data.colours.find((c) => c.date), 1)") == "2022-03-01"
    )
    assert errors_of(driver) == []
