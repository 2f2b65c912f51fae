/// The script of the pages, which works without it too.
///
/// The script changes the page after commits, and completes the last comparison of a condition. The
/// script also loads the rest of a page that was made in a short time. No text becomes markup in
/// the script: the browser parses a loaded page, without running its scripts, and the script
/// copies nodes of it.
enum PageScript {
  static let contentType = "text/javascript; charset=utf-8"
  static let bytes = Array(text.utf8)

  private static let text = #"""
    "use strict";
    (() => {
      // The regions of a page that change after a commit.
      const regions = ["content", "entities", "foot"];
      const button = document.getElementById("live");
      let shown = Number(document.body.dataset.commit);
      let newest = shown;
      let source = null;
      let isLoading = false;
      let isPaused = sessionStorage.getItem("live") === "paused";

      // Makes the node `old` equal to the node `fresh`. Nodes stay where they can, and with them
      // the focus, open folds and the place of scrolling. Fields keep the text of their user.
      function update(old, fresh) {
        if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
          old.replaceWith(document.importNode(fresh, true));
          return;
        }
        if (old.nodeType !== Node.ELEMENT_NODE) {
          if (old.data !== fresh.data) old.data = fresh.data;
          return;
        }
        if (old.matches("input, select, datalist")) return;
        for (const { name } of [...old.attributes])
          if (name !== "open" && !fresh.hasAttribute(name)) old.removeAttribute(name);
        for (const { name, value } of fresh.attributes)
          if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
        const nodes = [...old.childNodes];
        const others = [...fresh.childNodes];
        others.forEach((node, place) => {
          if (place < nodes.length) update(nodes[place], node);
          else old.append(document.importNode(node, true));
        });
        nodes.slice(others.length).forEach((node) => node.remove());
      }

      function show(page) {
        const rows = () => [...document.querySelectorAll("tbody tr")];
        const known = new Set(rows().map((row) => row.textContent));
        for (const id of regions) {
          const old = document.getElementById(id);
          const fresh = page.getElementById(id);
          if (old && fresh) update(old, fresh);
        }
        document.title = page.title;
        const added = rows().filter((row) => !known.has(row.textContent));
        added.forEach((row) => row.classList.add("fresh"));
        setTimeout(() => added.forEach((row) => row.classList.remove("fresh")), 2000);
      }

      // Loads the page again after a commit. A page that is slow to make is loaded less often, so
      // that loading takes a fifth of the time at most.
      function load() {
        if (isLoading || isPaused || document.hidden || newest <= shown) return;
        isLoading = true;
        const again = (delay) => setTimeout(() => { isLoading = false; load(); }, delay);
        if (!getSelection().isCollapsed) { again(1000); return; }
        const start = performance.now();
        const wanted = newest;
        get(location.href.split("#")[0], (page) => {
          shown = Math.max(wanted, Number(page?.body.dataset.commit ?? 0));
          again(Math.max(200, 4 * (performance.now() - start)));
        });
      }

      // Loads a page and shows it, and after it the same page with more time, if it has a link.
      function get(address, done) {
        const request = new XMLHttpRequest();
        request.open("GET", address);
        request.responseType = "document";
        request.onloadend = () => {
          const page = request.response;
          if (page) show(page);
          const more = page?.querySelector("[data-wait]");
          if (more) get(more.href, done); else done(page);
        };
        request.send();
      }

      // A page that was made in a short time gets its rest before other pages are loaded.
      const rest = document.querySelector("[data-wait]");
      if (rest) {
        isLoading = true;
        get(rest.href, () => { isLoading = false; load(); });
      }

      function say(state, text) {
        button.dataset.state = state;
        button.textContent = text;
        button.setAttribute("aria-pressed", String(!isPaused));
      }

      function connect() {
        if (source || isPaused || document.hidden) return;
        source = new EventSource("/-/live");
        source.addEventListener("commit", (event) => {
          newest = Number(event.data);
          say("on", "Live");
          load();
        });
        source.onerror = () => {
          say("off", "Not connected");
          if (source?.readyState !== EventSource.CLOSED) return;
          source = null;
          setTimeout(connect, 10000);
        };
      }

      function disconnect() {
        source?.close();
        source = null;
      }

      if (button && !Number.isNaN(shown)) {
        button.hidden = false;
        say(isPaused ? "paused" : "off", isPaused ? "Paused" : "Live");
        button.addEventListener("click", () => {
          isPaused = !isPaused;
          sessionStorage.setItem("live", isPaused ? "paused" : "on");
          say(isPaused ? "paused" : "off", isPaused ? "Paused" : "Live");
          if (isPaused) disconnect(); else connect();
        });
        // A browser has six connections for all tabs, so a hidden tab has none.
        document.addEventListener("visibilitychange", () => {
          if (document.hidden) disconnect(); else connect();
        });
        addEventListener("pagehide", disconnect);
        addEventListener("pageshow", connect);
        connect();
      }

      const field = document.getElementById("where");
      const list = document.getElementById("where-values");
      if (field && list) {
        const comparisons = [...list.options].map((option) => option.value);
        field.addEventListener("input", () => {
          const before = /^.*(?:\b(?:AND|OR|NOT)\s+|\(\s*)/is.exec(field.value)?.[0] ?? "";
          list.replaceChildren(...comparisons.map((comparison) => {
            const option = document.createElement("option");
            option.value = before + comparison;
            return option;
          }));
        });
      }
      if (field?.dataset.faultStart) {
        field.focus();
        field.setSelectionRange(Number(field.dataset.faultStart), Number(field.dataset.faultEnd));
      }
    })();

    """#
}
