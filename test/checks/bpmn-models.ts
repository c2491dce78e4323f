/*
 * Reads every BPMN file of a folder as an import does, and counts their elements once more with XPath:
 *
 *   node test/checks/bpmn-models.ts <folder>
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { elementTypes } from '../../domain/bpm/bpm.types.ts';
import { readModelFile } from '../../domain/bpm/bpmn.read.ts';

// their types would bring those of a browser into every other file
const { DOMParser } = await import('@xmldom/xmldom' as string);
const { default: xpath } = await import('xpath' as string);
const BPMN = 'http://www.omg.org/spec/BPMN/20100524/MODEL';
const names = [...elementTypes, 'transaction', 'adHocSubProcess'];
const QUERY = `count(//*[namespace-uri() = '${BPMN}' and (${names.map((name) => `local-name() = '${name}'`).join(' or ')})])`;

const folder = process.argv[2];
if (!folder) throw new Error('name the folder');
let failed = 0;
for (const name of (await readdir(folder)).filter((file) => file.endsWith('.bpmn')).sort()) {
  const bytes = await readFile(path.join(folder, name));
  const model = await readModelFile(bytes, 'file');
  const document = new DOMParser().parseFromString(model.text.replace(/^\uFEFF/, ''), 'text/xml');
  const counted = xpath.select(QUERY, document);
  const same = (model.original ?? Buffer.from(model.text, 'utf8')).equals(bytes);
  const fine = same && counted === model.elements.length && model.picture !== null;
  if (!fine) failed += 1;
  process.stdout.write(
    `${fine ? 'ok  ' : 'FAIL'} ${name}: ${model.elements.length} elements, ${counted} by XPath, ${model.encoding}, ${same ? 'byte for byte' : 'other bytes'}, ${model.warnings.length} warnings\n`,
  );
}
process.exitCode = failed > 0 ? 1 : 0;
