// Looks at one page after the other with Lighthouse, in one browser. Each line of standard input asks for one page,
// {"url", "session": the cookie of who is logged in, "form": "phone" | "desk", "categories": […]}; each line of standard output answers,
// {"scores": {category: 0 to 100}, "found": [what took points, and where]}.

import { createInterface } from "node:readline";
import lighthouse, { desktopConfig } from "lighthouse";
import puppeteer from "puppeteer-core";

const browser = await puppeteer.launch({
  executablePath: process.env.BALCAO_TEST_CHROMIUM || "/usr/lib/chromium/chromium-headless-shell",
  headless: "shell",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});

// Now and then the browser records nothing of a page, which says nothing about it.
const TRIES = 3;

async function look(asked, tries = TRIES) {
  const lhr = await audit(asked);
  if (lhr.runtimeError && tries > 1) return look(asked, tries - 1);
  return lhr.runtimeError ? { scores: {}, found: [lhr.runtimeError.message] } : told(lhr);
}

async function audit({ url, session, form, categories }) {
  // Each page is somebody's first: nothing is in the browser but the session.
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  if (session) await page.setCookie({ name: "sessionid", value: session, url });
  try {
    const flags = { onlyCategories: categories, disableStorageReset: true };
    const { lhr } = await lighthouse(url, flags, form === "desk" ? desktopConfig : undefined, page);
    return lhr;
  } finally {
    await context.close();
  }
}

function told({ categories, audits }) {
  const scores = {};
  const found = [];
  for (const category of Object.values(categories)) {
    scores[category.id] = Math.round(category.score * 100);
    for (const { id, weight } of category.auditRefs) {
      const { score, displayValue, details } = audits[id];
      if (weight === 0 || score === null || score >= 0.9) continue;
      const places = (details?.items ?? []).map((item) => item.node?.selector ?? item.description).filter(Boolean);
      found.push([id, displayValue, ...places.slice(0, 3)].filter(Boolean).join(" "));
    }
  }
  return { scores, found };
}

try {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await look(JSON.parse(line))));
  }
} finally {
  await browser.close();
}
