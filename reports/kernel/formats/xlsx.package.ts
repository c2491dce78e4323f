import { xmlAttribute } from '../../../platform/xml.ts';
import { envelope, OFFICE, relationships, XML } from './ooxml.package.ts';

// The parts of a workbook around its sheets (ECMA-376 part 1, 12 and 18)

export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
/** Limit of the format (ISO/IEC 29500 as Excel reads it). */
export const MAX_ROWS = 1_048_576;
/** Maximum characters of a sheet's name. */
const MAX_NAME = 31;
/** Signs that a sheet's name cannot have. */
const notInNames = /[[\]:*?/\\]|^'|'$/g;

/** Whether spreadsheets take a text for the name of a sheet as it is; "History" is reserved by Excel. */
export const isSheetName = (name: string): boolean =>
  name.trim() !== '' && name.length <= MAX_NAME && !/^history$/i.test(name) && name.search(notInNames) < 0;

/** The name of a table's n-th sheet, which none of the used ones has: spreadsheets do not tell cases apart. */
export function sheetName(table: string, n: number, used: Set<string>): string {
  const clean = table.replace(notInNames, '_').trim() || '_';
  for (let number = n; ; number += 1) {
    const ending = number === 1 ? '' : ` ${number}`;
    const name = clean.slice(0, MAX_NAME - ending.length) + ending;
    if (used.has(name.toLowerCase())) continue;
    used.add(name.toLowerCase());
    return name;
  }
}

const formats = ['yyyy-mm-dd', 'yyyy-mm-dd hh:mm:ss', '#,##0.00'];
/** Lower ids are those of built-in formats. */
const FIRST_FORMAT = 164;
/** The built-in format of cells in which spreadsheets leave what is typed as it is, such as zeros at the beginning. */
const AS_TYPED = 49;
const [DAY, TIME, MONEY] = [FIRST_FORMAT, FIRST_FORMAT + 1, FIRST_FORMAT + 2];

/** The styles of cells: their number formats, and for all but the header whether they belong to a form. */
const styles = [
  { name: 'plain', format: 0 },
  { name: 'header', format: 0 },
  { name: 'date', format: DAY },
  { name: 'datetime', format: TIME },
  { name: 'money', format: MONEY },
  ...(['open', 'locked'] as const).flatMap((state) => [
    { name: `${state} text`, format: AS_TYPED, state },
    { name: `${state} number`, format: 0, state },
    { name: `${state} date`, format: DAY, state },
    { name: `${state} datetime`, format: TIME, state },
    { name: `${state} money`, format: MONEY, state },
  ]),
] as readonly { name: string; format: number; state?: 'open' | 'locked' }[];

/** Styles of cells by their index in `xl/styles.xml`. */
export const cellStyle = (name: string): number => styles.findIndex((style) => style.name === name);

/** The fonts: that of values, that of headers, and a paler one of what a form protects. */
const fontOf = ({ name, state }: (typeof styles)[number]): number =>
  name === 'header' ? 1 : state === 'locked' ? 2 : 0;

const font = (more: string, colour = '') =>
  `<font>${more}<sz val="11"/>${colour}<name val="Calibri"/></font>`;

const stylesXml = `${XML}<styleSheet xmlns="${MAIN}"><numFmts count="${formats.length}">${formats
  .map((code, n) => `<numFmt numFmtId="${FIRST_FORMAT + n}" formatCode="${xmlAttribute(code)}"/>`)
  .join(
    '',
  )}</numFmts><fonts count="3">${font('')}${font('<b/>')}${font('', '<color rgb="FF6B7280"/>')}</fonts>
<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>
<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>
<cellXfs count="${styles.length}">${styles
  .map((style) => {
    const base = `<xf numFmtId="${style.format}" fontId="${fontOf(style)}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"`;
    return style.state === 'open' ? `${base} applyProtection="1"><protection locked="0"/></xf>` : `${base}/>`;
  })
  .join('')}</cellXfs></styleSheet>`;

/** A sheet of a workbook, besides its cells. */
export interface SheetPart {
  name: string;
  isHidden?: boolean;
  /** The notes of its header, see `headerNotes`. */
  notes?: { comments: string; drawing: string } | undefined;
}

const VML = 'application/vnd.openxmlformats-officedocument.vmlDrawing';

/** The notes of the sheets that have some. */
const noteParts = (sheets: readonly SheetPart[]): [name: string, xml: string][] =>
  sheets.flatMap(({ notes }, n): [string, string][] =>
    notes
      ? [
          [
            `xl/worksheets/_rels/sheet${n + 1}.xml.rels`,
            relationships([
              [`${OFFICE}/vmlDrawing`, `../drawings/notes${n + 1}.vml`],
              [`${OFFICE}/comments`, `../comments${n + 1}.xml`],
            ]),
          ],
          [`xl/comments${n + 1}.xml`, notes.comments],
          [`xl/drawings/notes${n + 1}.vml`, notes.drawing],
        ]
      : [],
  );

/** The parts of a workbook with these sheets, `xl/worksheets/sheet1.xml` and so on. */
export function packageParts(sheets: readonly SheetPart[]): [name: string, xml: string][] {
  const sheetPart = (n: number) => `worksheets/sheet${n + 1}.xml`;
  const parts = noteParts(sheets);
  const comments = parts.filter(([name]) => name.startsWith('xl/comments'));
  return [
    ...envelope(
      'xl/workbook.xml',
      [
        ['xl/workbook.xml', `${CONTENT}.sheet.main+xml`],
        ['xl/styles.xml', `${CONTENT}.styles+xml`],
        ...sheets.map((_, n): [string, string] => [`xl/${sheetPart(n)}`, `${CONTENT}.worksheet+xml`]),
        ...comments.map(([name]): [string, string] => [name, `${CONTENT}.comments+xml`]),
      ],
      comments.length > 0 ? [['vml', VML]] : [],
    ),
    ...parts,
    ['xl/styles.xml', stylesXml],
    [
      'xl/workbook.xml',
      `${XML}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${sheets
        .map(
          ({ name, isHidden }, n) =>
            `<sheet name="${xmlAttribute(name)}" sheetId="${n + 1}"${isHidden ? ' state="hidden"' : ''} r:id="rId${n + 1}"/>`,
        )
        .join('')}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      relationships([
        ...sheets.map((_, n): [string, string] => [`${OFFICE}/worksheet`, sheetPart(n)]),
        [`${OFFICE}/styles`, 'styles.xml'],
      ]),
    ],
  ];
}
