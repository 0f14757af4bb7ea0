"""Looks at a page of mezzotint-lagwatch in a browser: see ops/page."""
import pathlib
import re
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

URL, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
SIZES = {"wide": (1280, 900), "phone": (390, 800)}
found = []


def look(browser, size, scheme, scripts):
    name = f"{size}-{scheme}{'' if scripts else '-plain'}"
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, java_script_enabled=scripts)
    page = context.new_page()
    page.on("console", lambda message: found.append(f"{name}: console: {message.text}") if message.type == "error" else None)
    page.on("pageerror", lambda error: found.append(f"{name}: {error}"))
    page.on("request", lambda request: None if request.url.startswith(URL.split("/", 3)[0] + "//" + URL.split("/")[2])
            else found.append(f"{name}: asks {request.url}"))
    page.goto(URL, wait_until="load")
    page.screenshot(path=FOLDER / f"{name}.png", full_page=True)
    if scripts:
        # Axe is injected past the policy, which forbids what it does.
        violations = Axe().run(page).response["violations"]
        for fault in violations:
            nodes = "; ".join(node["html"][:120] for node in fault["nodes"][:3])
            found.append(f"{name}: axe {fault['id']} ({fault['impact']}): {nodes}")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{name}: the page is wider than its window")
        walk(page, name)
        # What it does then is the same in all sizes and colours.
        if name == "wide-light" and page.locator("script").count():
            updates(page, name)
    if not page.inner_text("h1").strip():
        found.append(f"{name}: no sentence")
    context.close()


def walk(page, name):
    """By keyboard alone: the first stop skips to the content, each stop is seen, and all that can be used is one."""
    stops = []
    for _ in range(500):
        page.keyboard.press("Tab")
        stop = page.evaluate("""() => {
            const element = document.activeElement, style = getComputedStyle(element);
            return element === document.body ? null : [element.className, element.outerHTML.slice(0, 80), style.outlineStyle];
        }""")
        if stop is None:
            break
        stops.append(stop)
    if not stops or stops[0][0] != "skip":
        found.append(f"{name}: the first stop of the keyboard is '{stops[:1]}', not the link to the content")
    found.extend(f"{name}: no outline shows that the keyboard is at {html}" for _, html, outline in stops if outline == "none")
    usable = page.locator("a, button, input, summary, [tabindex='0']").count()
    if len(stops) < usable:
        found.append(f"{name}: the keyboard reaches {len(stops)} of {usable}")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    if page.evaluate("document.activeElement.id") != "main":
        found.append(f"{name}: the link to the content does not lead there")


def until(page, holds):
    """Not wait_for_function: it would evaluate within the page, whose policy forbids that."""
    for _ in range(150):
        if page.evaluate(holds):
            return
        page.wait_for_timeout(100)
    raise TimeoutError(f"never: {holds}")


def updates(page, name):
    """Updates, each of them another page, take the keyboard away from nothing, and the age that is told is that of what is
    shown."""
    turns = []

    def changed(route):
        # So many seconds old, and unlike the one before.
        turns.append(route)
        answer = route.fetch()
        body = re.sub(r"<span id=age[^>]*>", "<span id=age data-age=60000>", answer.text())
        route.fulfill(response=answer, body=body.replace("</main>", f"<p id=turn>{len(turns)}</p></main>"))

    def turned():
        seen = len(turns)
        until(page, f"Number(document.getElementById('turn')?.textContent) > {seen}")

    page.route(URL, changed)
    at = "[document.activeElement.tagName, document.activeElement.getAttribute('href') ?? document.activeElement.ariaLabel]"
    for stop in ("#main a", "#main summary", "#main .wide"):
        if page.locator(stop).count():
            page.locator(stop).last.focus()
            before = page.evaluate(at)
            turned()
            if page.evaluate(at) != before:
                found.append(f"{name}: an update takes the keyboard from {before} to {page.evaluate(at)}")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('h1'))")
    before = page.inner_text("#turn")
    until(page, "document.getElementById('age').textContent.includes(' s old: ')")
    if page.inner_text("#turn") != before:
        found.append(f"{name}: an update takes the selected text away")
    page.unroute(URL)
    page.route(URL, lambda route: route.abort())
    until(page, "document.getElementById('lost').textContent")
    until(page, "document.getElementById('age').textContent.endsWith(' s old.')")
    age = int(re.search(r"\d+", page.inner_text("#age"))[0])
    if age < 60:
        found.append(f"{name}: what is shown is a minute old, and the page says {age} s")
    # That it could not ask is what was staged.
    found[:] = [fault for fault in found if "ERR_FAILED" not in fault]


FOLDER.mkdir(parents=True, exist_ok=True)
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(
        executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox"])
    for size in SIZES:
        for scheme in ("light", "dark"):
            look(browser, size, scheme, True)
    look(browser, "wide", "light", False)
    browser.close()
for fault in found:
    print(fault)
print(f"{len(found)} found; screenshots are in {FOLDER}")
sys.exit(1 if found else 0)
