"""The page without a mouse, for eyes that need contrast, and for screen readers."""

import pytest

pytestmark = pytest.mark.browser
pytest.importorskip("selenium")

from browsing import ActionChains, By, Keys, both_themes, errors_of, open_page, selected, status  # noqa: E402


@both_themes
def test_everything_can_be_reached_with_the_keyboard_alone(driver, report, dark):
    open_page(driver, report, 1440, dark=dark)
    body = driver.find_element(By.TAG_NAME, "body")

    def tab_to(condition, limit=120):
        for _ in range(limit):
            ActionChains(driver).send_keys(Keys.TAB).perform()
            if driver.execute_script(f"return document.activeElement.matches({condition!r})"):
                return driver.switch_to.active_element
        raise AssertionError(condition)

    body.send_keys(Keys.HOME)
    tab_to("#find").send_keys("digit 9" + Keys.ENTER)
    assert status(driver).startswith("Found digit 9")
    tab_to("#layer").send_keys(Keys.HOME)
    assert driver.find_element(By.ID, "layer-text").text == "2"
    tab_to("#filters summary").send_keys(Keys.ENTER)
    tab_to("#filter-column").send_keys("known")
    tab_to("#filter-add").send_keys(Keys.ENTER)
    assert "pass the filters" in status(driver)
    ActionChains(driver).key_down(Keys.SHIFT).perform()
    tab_to("#select-filtered").send_keys(Keys.NULL)
    ActionChains(driver).key_up(Keys.SHIFT).perform()
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert selected(driver)
    tab_to("#filter-list button").send_keys(Keys.ENTER)
    stage = tab_to("#scatter")
    stage.send_keys(Keys.ESCAPE)
    assert selected(driver) == []
    stage.send_keys("+")
    stage.send_keys("s")
    assert 0 < len(selected(driver)) < 500
    stage.send_keys(Keys.ENTER)
    assert driver.find_elements(By.CSS_SELECTOR, "#row h3")
    assert (
        driver.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
        != "none"
    )
    tab_to("#save-csv")
    tab_to("#load")
    assert errors_of(driver) == []


@both_themes
def test_text_has_enough_contrast(driver, report, dark):
    open_page(driver, report, 1440, dark=dark)
    driver.execute_script("selectRow(3); setSelection(maskOf([3, 4])); setTool('box')")
    low = driver.execute_script(
        """
        const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
        const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        const weights = [0.2126, 0.7152, 0.0722];
        const light = (rgb) => weights.reduce((sum, weight, i) => sum + weight * linear(rgb[i] / 255), 0);
        const ground = (node) => {
          for (; node; node = node.parentElement) {
            const colour = rgb(getComputedStyle(node).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
          }
          return [255, 255, 255];
        };
        const poor = [];
        const tags = "p, li, td, th, dt, dd, h1, h2, h3, h4, label, button, a, summary, figcaption, output";
        for (const node of document.querySelectorAll(tags)) {
          if (!node.textContent.trim() || !node.offsetWidth || node.closest(".shade")) continue;
          const [a, b] = [light(rgb(getComputedStyle(node).color)), light(ground(node))];
          const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          const words = node.textContent.trim().slice(0, 30);
          if (ratio < 4.5) poor.push(`${node.tagName} ${words} ${ratio.toFixed(2)}`);
        }
        return poor;
        """
    )
    assert low == []


def test_every_control_and_picture_has_a_name(driver, report):
    open_page(driver, report, 1440)
    driver.execute_script("selectRow(3); setSelection(maskOf([3, 4]))")
    nameless = driver.execute_script(
        """
        const named = (node) =>
          node.getAttribute("aria-label") || node.textContent.trim() || node.labels?.length;
        const kinds = "button, select, input, canvas:not(#scatter canvas), svg, [role=img], iframe";
        return [...document.querySelectorAll(kinds)]
          .filter((node) => !named(node)).map((node) => node.outerHTML.slice(0, 80));
        """
    )
    assert nameless == []
