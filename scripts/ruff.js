// Runs ruff's WebAssembly build: node ruff.js LIBRARY SETTINGS [--fix] FILE... SETTINGS is [tool.ruff] as JSON.
'use strict';
const fs = require('node:fs');

const [library, settings, ...rest] = process.argv.slice(2);
const { Workspace, PositionEncoding } = require(library);
const options = JSON.parse(settings);
const tables = options.format.exclude.map((glob) => glob.replace('*', ''));
const workspace = new Workspace(options, PositionEncoding.Utf16);
const isFixing = rest[0] === '--fix';
for (const file of rest.filter((one) => one !== '--fix')) {
  let text = fs.readFileSync(file, 'utf8');
  const formatted = tables.some((part) => file.startsWith(part)) ? text : workspace.format(text);
  if (isFixing) {
    if (formatted !== text) fs.writeFileSync(file, formatted);
    text = formatted;
  } else if (formatted !== text) {
    const wanted = formatted.split('\n');
    const line = text.split('\n').findIndex((one, number) => one !== wanted[number]);
    console.log(`${file}:${line + 1}: not formatted; ruff format has: ${wanted[line]}`);
    process.exitCode = 1;
  }
  for (const { code, message, start_location: { row, column } } of workspace.check(text)) {
    console.log(`${file}:${row}:${column}: ${code} ${message}`);
    process.exitCode = 1;
  }
}
