import { xmlAttribute } from '../../../platform/xml.ts';
import type { FormColumn } from './formats.types.ts';
import { OFFICE, XML } from './ooxml.package.ts';
import { columnName, textXml } from './xlsx.cells.ts';
import { MAIN, MAX_ROWS, type SheetPart } from './xlsx.package.ts';

/*
 * What sheets that people edit have besides cells: protection, drop-down lists and notes (ECMA-376 part 1, 18.3.1.85, 18.3.1.33
 * and 18.7; notes are drawn as part 4, 19.1 describes, without which Excel shows none).
 */

/** Without a password. Attributes name what stays forbidden, `0` what people may do. */
export const protection = `<sheetProtection sheet="1" objects="1" scenarios="1" ${[
  ...['formatCells', 'formatColumns', 'formatRows', 'insertRows', 'deleteRows', 'sort', 'autoFilter'],
]
  .map((what) => `${what}="0"`)
  .join(' ')}/>`;

/** The lists that columns offer, each once, as columns of one sheet. */
export class ChoiceLists {
  readonly #places = new Map<string, number>();
  readonly lists: (readonly (string | boolean)[])[] = [];
  readonly sheet: string;

  constructor(sheet: string) {
    this.sheet = sheet;
  }

  /** The cells with the choices of a column. */
  rangeOf(choices: readonly (string | boolean)[]): string {
    const key = JSON.stringify(choices);
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.lists.push(choices);
      this.#places.set(key, place);
    }
    const column = columnName(place);
    return `'${this.sheet.replaceAll("'", "''")}'!$${column}$2:$${column}$${choices.length + 1}`;
  }
}

/**
 * Rows below the last one that have drop-down lists too. Not all that a sheet can have: libraries such as exceljs hold a list for
 * each cell.
 */
const NEW_ROWS = 500;

/** Drop-down lists for columns from below the header to some rows below the last. */
export function validations(form: readonly FormColumn[], lists: ChoiceLists, lastRow: number): string {
  const items = form.flatMap(({ choices = [] }, n) => {
    if (choices.length === 0) return [];
    const column = columnName(n + 1);
    return `<dataValidation type="list" allowBlank="1" showErrorMessage="1" sqref="${column}2:${column}${Math.min(lastRow + NEW_ROWS, MAX_ROWS)}"><formula1>${textXml(lists.rangeOf(choices))}</formula1></dataValidation>`;
  });
  return items.length > 0
    ? `<dataValidations count="${items.length}">${items.join('')}</dataValidations>`
    : '';
}

const V = 'urn:schemas-microsoft-com:vml';
const O = 'urn:schemas-microsoft-com:office:office';
const X = 'urn:schemas-microsoft-com:office:excel';
/** Lines and characters of a note that is shown. */
const LINE_CHARACTERS = 42;
const LINE_POINTS = 13;

const linesOf = (note: string): number =>
  note.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE_CHARACTERS)), 1);

/** The notes of the header of a sheet, whose number from 1 keeps ids of shapes apart. */
export function headerNotes(form: readonly FormColumn[], sheet: number): SheetPart['notes'] {
  const comments = form.map(
    ({ note }, n) =>
      `<comment ref="${columnName(n + 1)}1" authorId="0"><text><r><t xml:space="preserve">${textXml(note)}</t></r></text></comment>`,
  );
  const shapes = form.map(
    ({ note }, n) =>
      `<v:shape id="_x0000_s${sheet * 1024 + n + 1}" type="#_x0000_t202" style="position:absolute;width:230pt;height:${linesOf(note) * LINE_POINTS}pt;z-index:${n + 1};visibility:hidden" fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/><v:path o:connecttype="none"/><v:textbox/><x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/><x:Anchor>${n + 1}, 8, 1, 4, ${n + 3}, 60, ${1 + linesOf(note)}, 4</x:Anchor><x:AutoFill>False</x:AutoFill><x:Row>0</x:Row><x:Column>${n}</x:Column></x:ClientData></v:shape>`,
  );
  return {
    comments: `${XML}<comments xmlns="${MAIN}"><authors><author>Estate</author></authors><commentList>${comments.join('')}</commentList></comments>`,
    drawing: `<xml xmlns:v="${V}" xmlns:o="${O}" xmlns:x="${X}"><o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="${sheet}"/></o:shapelayout><v:shapetype id="_x0000_t202" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe"><v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>${shapes.join('')}</xml>`,
  };
}

/** The reference from a sheet to the drawing of its notes. */
export const notesReference = `<legacyDrawing xmlns:r="${xmlAttribute(OFFICE)}" r:id="rId1"/>`;
