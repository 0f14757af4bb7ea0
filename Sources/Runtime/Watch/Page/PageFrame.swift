internal import Clocks

/// The frame of every page. Style and script are separate files, because the policy demands it.
package enum PageFrame {
    /// Content policy: only files that this server itself serves, and no frames of others.
    package static let policy =
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
        + "base-uri 'none'; frame-ancestors 'none'"

    /// - Parameters:
    ///   - isLive: whether the page updates itself: in place with the script, as a whole without it.
    ///   - age: age of the shown data; nil if nothing was seen yet.
    static func page(
        _ title: String, isLive: Bool, at: String, age: Duration? = nil, _ body: (inout HTML) -> Void
    ) -> [UInt8] {
        var html = HTML()
        html.raw(
            "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content=\"width=device-width,initial-scale=1\">"
        )
        html.raw("<meta name=color-scheme content=\"light dark\"><link rel=stylesheet href=\"/page.css\">")
        if isLive {
            html.raw(
                "<noscript><meta http-equiv=refresh content=10></noscript><script src=\"/page.js\" defer></script>")
        }
        html.raw("<title>")
        html.put(title)
        html.raw(
            "</title></head><body><a class=skip href=\"#main\">Skip to the content</a><header><p><a href=\"/\">mezzotint-lagwatch</a></p>"
        )
        html.raw(
            "<form action=\"/source\" role=search><label for=url>Source</label> <input id=url name=url type=text inputmode=url autocomplete=off placeholder=\"https://images.example/a.jpg\"> <button>Show</button></form>"
        )
        html.raw("<p class=age><span id=lost class=stale role=status></span> <span id=age")
        if let age {
            html.raw(" data-age=")
            html.put(age.milliseconds)
        }
        html.raw(">As of ")
        html.put(at)
        html.raw(".</span></p></header><main id=main tabindex=-1>")
        body(&html)
        html.raw("</main></body></html>\n")
        return Array(html.text.utf8)
    }

    package static let style = """
        :root{color-scheme:light dark;--ink:#1b1b1b;--dim:#595959;--paper:#fff;--line:#c9c9c9;--bad:#a40000;--well:#1c6b2a;--warn:#7a4b00;--fill:#2b5fa3;--soft:#f0f0f0}
        @media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--dim:#adadad;--paper:#151515;--line:#454545;--bad:#ff9a8f;--well:#7ed491;--warn:#f0c069;--fill:#7fb0f0;--soft:#222}}
        *{box-sizing:border-box}
        body{margin:0 auto;max-width:72rem;padding:0 1rem 3rem;font:16px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);overflow-wrap:anywhere}
        header{display:flex;flex-wrap:wrap;gap:.5rem 2rem;align-items:center;justify-content:space-between}
        a{color:var(--fill)}a:focus-visible,button:focus-visible,input:focus-visible,summary:focus-visible,.wide:focus-visible{outline:3px solid var(--fill);outline-offset:2px}
        .skip{position:absolute;left:-99rem}.skip:focus{left:1rem;background:var(--paper);padding:.3rem}
        input,button{font:inherit;color:inherit;background:var(--soft);border:1px solid var(--dim);border-radius:.25rem;padding:.2rem .5rem;max-width:100%}
        h1{font-size:1.35rem;line-height:1.35;margin:.8rem 0 .3rem}h2{font-size:1.1rem;margin:2rem 0 .4rem}h3{font-size:1rem;margin:.8rem 0 .2rem}
        #age,.dim{color:var(--dim)}.age{flex-basis:100%;margin:0 0 .5rem}.stale{color:var(--bad)!important;font-weight:600}
        .verdict{border-left:.4rem solid var(--bad);padding:.1rem 0 .1rem .8rem}.verdict.fine{border-color:var(--well)}.verdict:is(.dead-letters,.starting,.paused,.retrying,.disk-fills,.host-slow,.read-ahead){border-color:var(--warn)}.verdict.idle{border-color:var(--line)}.verdict p{margin:.2rem 0}.line{font-size:.95rem}
        .lanes{display:grid;gap:1rem 2rem;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr))}
        .late{color:var(--bad)}
        svg{display:block;width:100%;height:auto}.chart{max-height:7rem}
        .bar{fill:var(--fill)}.over{fill:var(--bad)}.rule{stroke:var(--line)}.goal{stroke:var(--warn);stroke-dasharray:4 3}.mark{stroke:var(--dim);stroke-dasharray:1 3}.gap{fill:var(--soft)}
        .owned{fill:var(--well)}.late-cell{fill:var(--warn)}.unowned,.unreadable{fill:var(--bad)}.restoring{fill:var(--fill)}.unknown,.rest{fill:var(--line)}
        .wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem}th,td{text-align:left;vertical-align:top;padding:.25rem 1rem .25rem 0;border-bottom:1px solid var(--line);overflow-wrap:break-word;min-width:7.8rem;max-width:20rem}.c{white-space:nowrap}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;min-width:3rem}.t{min-width:16rem;max-width:none;overflow-wrap:anywhere}
        @media(max-width:40rem){thead{position:absolute;left:-99rem}table,tbody,tr,td{display:block}tr{border-bottom:1px solid var(--line);padding:.3rem 0}:is(td,.n,.t,.c){position:relative;border:0;padding:.1rem 0 .1rem 8rem;min-height:1.6em;min-width:0;max-width:none;text-align:left;white-space:normal;overflow-wrap:anywhere}td:empty{display:none}td::before{content:attr(data-title);position:absolute;left:0;width:7.5rem;color:var(--dim)}}
        dl{display:grid;grid-template-columns:minmax(5rem,max-content) 1fr;gap:.1rem 1rem;margin:.3rem 0}dt{color:var(--dim)}dd{margin:0}
        """

    /// Script that fetches the page again and replaces the content, unless a reader has selected text in it. If no
    /// response comes, it reports that, with the age of the shown data by the page's own count, because clocks differ.
    package static let script = """
        (() => {
          "use strict";
          const age = document.getElementById("age"), said = document.getElementById("lost"), main = document.getElementById("main");
          const stops = "a, summary, .wide";
          let lost = false, held = false, known, asOf, seen;
          const show = page => {
            const told = page.getElementById("age");
            known = "age" in told.dataset;
            seen = Date.now() - Number(told.dataset.age ?? 0);
            asOf = told.textContent;
          };
          const tell = () => {
            const seconds = Math.round((Date.now() - seen) / 1000);
            const old = known && (lost || held) ? "This page is " + seconds + " s old" + (lost ? "." : ": it waits while text is selected.") : asOf;
            if (age.textContent !== old) age.textContent = old;
            age.classList.toggle("stale", lost);
            // Screen readers read this once, not each second.
            const words = lost ? "Reconnecting." : "";
            if (said.textContent !== words) said.textContent = words;
          };
          // After an update, the focused element is found by its name or its link, because the elements are new.
          const name = stop => stop.getAttribute("aria-label") ?? stop.getAttribute("href") ?? stop.parentElement.id;
          const put = fresh => {
            const open = new Map([...main.querySelectorAll("details[id]")].map(d => [d.id, d.open]));
            const scrolled = new Map([...main.querySelectorAll(".wide")].map(w => [name(w), w.scrollLeft]));
            const place = [...main.querySelectorAll(stops)].indexOf(document.activeElement);
            const called = place < 0 ? null : name(document.activeElement);
            main.replaceChildren(...document.importNode(fresh, true).childNodes);
            for (const d of main.querySelectorAll("details[id]")) if (open.has(d.id)) d.open = open.get(d.id);
            for (const w of main.querySelectorAll(".wide")) w.scrollLeft = scrolled.get(name(w)) ?? 0;
            if (place < 0) return;
            const now = [...main.querySelectorAll(stops)], there = now[Math.min(place, now.length - 1)];
            const same = there && name(there) === called ? there : now.find(stop => name(stop) === called);
            (same ?? there ?? main).focus({preventScroll: true});
          };
          const update = async () => {
            try {
              const answer = await fetch(location.href, {cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(8000)});
              if (!answer.ok) throw new Error("status " + answer.status);
              const page = new DOMParser().parseFromString(await answer.text(), "text/html");
              const fresh = page.getElementById("main");
              if (!fresh) throw new Error("no page");
              lost = false;
              const picked = getSelection();
              held = picked && !picked.isCollapsed && main.contains(picked.anchorNode);
              if (!held) {
                put(fresh);
                show(page);
                document.title = page.title;
              }
            } catch { lost = true; }
            tell();
          };
          const turn = async () => { if (!document.hidden) await update(); setTimeout(turn, 3000); };
          show(document);
          setTimeout(turn, 3000);
          setInterval(tell, 1000);
        })();
        """
}
