// What Spectral and Redocly find wrong with API documents, by their own rules and with their own severities, save where a rule is named
// here. Warnings are tastes.

import { readFileSync } from "node:fs";
import redocly from "@redocly/openapi-core";
import core from "@stoplight/spectral-core";
import parsers from "@stoplight/spectral-parsers";
import rulesets from "@stoplight/spectral-rulesets";

const config = await redocly.createConfig({
  extends: ["recommended"],
  rules: {
    // The specification's addresses end with slashes.
    "no-path-trailing-slash": "off",
    "no-unused-components": "error",
    "operation-operationId": "error",
    "info-license": "error",
  },
});
const spectral = new core.Spectral();
spectral.setRuleset({
  extends: [rulesets.oas],
  rules: { "operation-tags": "error", "operation-tag-defined": "error", "operation-success-response": "error" },
});

const wrong = [];
for (const file of process.argv.slice(2)) {
  for (const { severity, ruleId, message, location } of await redocly.lint({ ref: file, config })) {
    if (severity === "error") wrong.push([file, "redocly", ruleId, message, location[0].pointer]);
  }
  for (const { severity, code, message, path } of await spectral.run(new core.Document(readFileSync(file, "utf8"), parsers.Json, file))) {
    if (severity === 0) wrong.push([file, "spectral", code, message, path.join("/")]);
  }
}
for (const line of wrong) console.log(line.join(": "));
process.exit(wrong.length === 0 ? 0 : 1);
