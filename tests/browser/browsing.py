"""What the tests in a browser share: opening pages, and looking at what they did."""

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("selenium")
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

__all__ = ["ActionChains", "By", "Keys", "Select", "WebDriverWait"]

SCREENSHOTS = Path("report-screenshots")
DRIVER, BROWSER = shutil.which("chromedriver"), shutil.which("chromium")
if DRIVER is None or BROWSER is None:
    pytest.skip("needs Debian's chromium and chromium-driver", allow_module_level=True)

both_themes = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
every_width = pytest.mark.parametrize("width", [390, 1440])


def new_driver(downloads):
    """A browser without a window that saves files to a folder."""
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--hide-scrollbars",
        "--enable-unsafe-swiftshader",
        "--disable-background-networking",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    browser.set_script_timeout(120)
    allowed = {"behavior": "allow", "downloadPath": str(downloads)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)
    SCREENSHOTS.mkdir(exist_ok=True)
    return browser


def open_page(driver, path, width, *, dark=False, query=""):
    driver.get_log("performance")
    driver.get_log("browser")
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    reduced_motion = {"name": "prefers-reduced-motion", "value": "reduce"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, reduced_motion]})
    address = path if str(path).startswith("http") else f"file://{path}{query}"
    driver.get(address)
    drawn = "return document.documentElement.dataset.ready === 'true' && scatter.frameCount > 0"
    WebDriverWait(driver, 60).until(lambda d: d.execute_script(drawn))


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


def selected(driver):
    return driver.execute_script("return state.selected ? rowsOf(state.selected) : []")


def status(driver):
    return driver.find_element(By.ID, "status").text
