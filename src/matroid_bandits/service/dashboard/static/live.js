// Keeps a page up to date: it fetches the same address again and changes what has changed in
// <main>. What has not changed is not touched, so focus, scroll positions and open parts stay.
(() => {
  "use strict";

  const PERIOD = 2000;
  const LONGEST_WAIT = 30000;
  const PATIENCE = 10000;
  const main = document.querySelector("main[data-live]");
  const controls = document.getElementById("live-controls");
  if (!main || !controls) return;

  // Parts of a page are matched by id or data-key; all others by their place.
  const keyOf = (node) =>
    node.nodeType === Node.ELEMENT_NODE ? node.id || node.getAttribute("data-key") : null;

  const isAlike = (old, fresh) => old.nodeName === fresh.nodeName && keyOf(old) === keyOf(fresh);

  function update(old, fresh) {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return;
    }
    // The reader decides which details are open.
    const isMine = (name) => name === "open" && old.localName === "details";
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && !isMine(name)) old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) !== value && !isMine(name)) old.setAttribute(name, value);
    }
    updateChildren(old, fresh, () => false);
  }

  function updateChildren(parent, fresh, isHeld) {
    const wantedKeys = new Set([...fresh.children].map(keyOf));
    const keyed = new Map();
    for (const child of [...parent.children]) {
      const key = keyOf(child);
      // Removed first, so that what stays need not be moved past it. Of equal keys, one counts.
      if (key && (!wantedKeys.has(key) || keyed.has(key))) child.remove();
      else if (key) keyed.set(key, child);
    }
    let here = parent.firstChild;
    for (const wanted of [...fresh.childNodes]) {
      const key = keyOf(wanted);
      const found = key ? keyed.get(key) : here;
      keyed.delete(key);
      if (!found || !isAlike(found, wanted)) {
        parent.insertBefore(document.importNode(wanted, true), here);
        continue;
      }
      if (found === here) here = here.nextSibling;
      else parent.insertBefore(found, here);
      if (!isHeld(found)) update(found, wanted);
    }
    while (here) {
      const next = here.nextSibling;
      here.remove();
      here = next;
    }
  }

  function fillIn(root) {
    for (const place of root.querySelectorAll("[data-origin]")) {
      place.textContent = location.origin;
    }
  }

  // What the reader looks at: the part with the focus, or else the one at the top of the window.
  function lookedAt(focused) {
    const isSeen = (part) => {
      const { top, bottom } = part.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    };
    if (focused && focused !== main && isSeen(focused)) return focused;
    return [...main.children].find(isSeen);
  }

  function show(text) {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    const content = fresh.querySelector("main[data-live]");
    if (!content) return false;
    fillIn(content);
    const selection = getSelection();
    const isSelecting = selection.rangeCount > 0 && !selection.isCollapsed;
    const range = isSelecting ? selection.getRangeAt(0) : null;
    const focused = main.contains(document.activeElement) ? document.activeElement : null;
    // Rows change places. The browser would follow one of them, and move the page.
    const mark = scrollY > 0 ? lookedAt(focused) : undefined;
    const top = mark?.getBoundingClientRect().top;
    // A part with selected text waits until the reader is done with it.
    updateChildren(main, content, (part) => range !== null && range.intersectsNode(part));
    if (focused && document.activeElement !== focused) {
      // It was moved, which takes the focus away, or it is gone.
      (focused.isConnected ? focused : main).focus({ preventScroll: true });
    }
    if (mark?.isConnected) {
      scrollBy({ top: mark.getBoundingClientRect().top - top, behavior: "instant" });
    }
    if (document.title !== fresh.title) document.title = fresh.title;
    return true;
  }

  let isPaused = false;
  let trouble = "";
  const button = document.createElement("button");
  button.type = "button";
  const state = document.createElement("p");

  function describe() {
    button.textContent = isPaused ? "Resume updates" : "Pause updates";
    state.textContent = isPaused ? "Paused" : trouble ? "Not connected" : "Live";
  }

  // What is said, in words and rarely: only when something about the connection changes.
  const message = document.createElement("div");
  message.id = "live-message";
  message.setAttribute("role", "status");
  message.setAttribute("aria-live", "polite");
  main.before(message);
  let thanks = 0;

  function say(text, kind) {
    clearTimeout(thanks);
    message.replaceChildren();
    if (!text) return;
    const line = document.createElement("p");
    line.className = kind;
    line.textContent = text;
    message.append(line);
  }

  function report(problem) {
    if (problem === trouble) return;
    if (problem) {
      const shown = main.querySelector("[data-as-of]");
      const age = shown ? ` You see the numbers of ${shown.textContent}.` : "";
      say(`${problem}${age}`, "bad");
    } else {
      say("The connection is back.", "good");
      thanks = setTimeout(() => say(""), 5000);
    }
    trouble = problem;
    describe();
  }

  function problemOf(response) {
    if (response.type === "opaqueredirect" || response.status === 401 || response.status === 403) {
      return "The service no longer accepts this session. Reload the page.";
    }
    if (response.status === 404) return "The service no longer has this page.";
    return `The service answers with an error (${response.status}). Trying again.`;
  }

  let wait = PERIOD;
  let timer = 0;
  let request = null;

  function stop() {
    clearTimeout(timer);
    timer = 0;
    if (request) request.abort();
    request = null;
  }

  function start(after) {
    stop();
    if (!isPaused && !document.hidden) timer = setTimeout(refresh, after);
  }

  async function refresh() {
    const mine = new AbortController();
    request = mine;
    const limit = setTimeout(() => mine.abort(), PATIENCE);
    let problem = "";
    try {
      // Complete, as a key in the address of the page would be refused in an address to fetch.
      const address = location.origin + location.pathname + location.search;
      const response = await fetch(address, {
        cache: "no-store",
        headers: { Accept: "text/html" },
        redirect: "manual",
        signal: mine.signal,
      });
      const text = response.ok ? await response.text() : "";
      // Meanwhile the reader may have paused, or hidden the page.
      if (request !== mine) return;
      if (!response.ok) problem = problemOf(response);
      else if (!show(text)) problem = "The service answers with another page. Reload the page.";
    } catch {
      problem = "The connection is lost. Trying again.";
    } finally {
      clearTimeout(limit);
    }
    if (request !== mine) return;
    report(problem);
    wait = problem ? Math.min(2 * wait, LONGEST_WAIT) : PERIOD;
    start(wait);
  }

  button.addEventListener("click", () => {
    isPaused = !isPaused;
    wait = PERIOD;
    describe();
    start(0);
  });
  // A page that is hidden asks for nothing; one that is seen again does so at once.
  document.addEventListener("visibilitychange", () => start(0));
  addEventListener("pagehide", stop);
  addEventListener("pageshow", (event) => {
    if (event.persisted) start(0);
  });

  describe();
  controls.replaceChildren(state, button);
  fillIn(main);
  start(PERIOD);
})();
