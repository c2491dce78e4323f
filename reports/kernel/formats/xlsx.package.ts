import { xmlAttribute } from '../../../platform/xml.ts';
import { envelope, OFFICE, relationships, XML } from './ooxml.package.ts';

// The parts of a workbook around its sheets (ECMA-376 part 1, 12 and 18)

export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
/** Maximum characters of a sheet's name. */
const MAX_NAME = 31;

/** Styles of cells by their index in `xl/styles.xml`. */
export const cellStyles = { header: 1, date: 2, datetime: 3, money: 4 };
const formats = ['yyyy-mm-dd', 'yyyy-mm-dd hh:mm:ss', '#,##0.00'];
/** Lower ids are those of built-in formats. */
const FIRST_FORMAT = 164;

const font = (bold: string) => `<font>${bold}<sz val="11"/><name val="Calibri"/></font>`;

const stylesXml = `${XML}<styleSheet xmlns="${MAIN}"><numFmts count="${formats.length}">${formats
  .map((code, n) => `<numFmt numFmtId="${FIRST_FORMAT + n}" formatCode="${xmlAttribute(code)}"/>`)
  .join('')}</numFmts><fonts count="2">${font('')}${font('<b/>')}</fonts>
<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>
<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>
<cellXfs count="${formats.length + 2}"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>
<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>${formats
  .map(
    (_, n) =>
      `<xf numFmtId="${FIRST_FORMAT + n}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`,
  )
  .join('')}</cellXfs></styleSheet>`;

/** The parts of a workbook with sheets of these names, `xl/worksheets/sheet1.xml` and so on. */
export function packageParts(sheets: string[]): [name: string, xml: string][] {
  const sheetPart = (n: number) => `worksheets/sheet${n + 1}.xml`;
  return [
    ...envelope('xl/workbook.xml', [
      ['xl/workbook.xml', `${CONTENT}.sheet.main+xml`],
      ['xl/styles.xml', `${CONTENT}.styles+xml`],
      ...sheets.map((_, n): [string, string] => [`xl/${sheetPart(n)}`, `${CONTENT}.worksheet+xml`]),
    ]),
    ['xl/styles.xml', stylesXml],
    [
      'xl/workbook.xml',
      `${XML}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${sheets
        .map(
          (name, n) =>
            `<sheet name="${xmlAttribute(name.slice(0, MAX_NAME))}" sheetId="${n + 1}" r:id="rId${n + 1}"/>`,
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
