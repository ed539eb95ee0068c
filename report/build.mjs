// Bundles src/ into built/page.html: one file, whose policy allows exactly this script and this style.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const folder = new URL(".", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder), "utf8");
const bundle = async (entry) => {
  const made = await build({
    entryPoints: [new URL(entry, folder).pathname],
    bundle: true,
    minify: true,
    write: false,
    target: "es2022",
    format: "iife",
    charset: "ascii",
    legalComments: "none",
  });
  return made.outputFiles[0].text.trim();
};
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const script = await bundle("src/main.ts");
const css = await build({
  entryPoints: [new URL("src/style.css", folder).pathname],
  minify: true,
  write: false,
});
const style = css.outputFiles[0].text.trim();
if (/<\/(script|style)/i.test(script + style)) throw new Error("the bundle would end its own element");
const policy =
  `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src blob:; ` +
  "base-uri 'none'; form-action 'none'";
const page = read("src/page.html")
  .replace("POLICY", () => policy)
  .replace("STYLE", () => style)
  .replace("SCRIPT", () => script);
mkdirSync(new URL("built/", folder), { recursive: true });
writeFileSync(
  new URL(process.argv[2] ?? "built/page.html", process.argv[2] ? `file://${process.cwd()}/` : folder),
  page,
);
