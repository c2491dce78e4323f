import { xmlAttribute } from '../../../platform/xml.ts';

// The parts of a workbook around its sheets (ECMA-376 part 1, 12 and 18; part 2 for the package)

export const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const CORE = `${PACKAGE}/metadata/core-properties`;
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

const relationships = (targets: [type: string, target: string][]) =>
  `${XML}<Relationships xmlns="${PACKAGE}/relationships">${targets
    .map(([type, target], n) => `<Relationship Id="rId${n + 1}" Type="${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

/** The parts of a workbook with sheets of these names, `xl/worksheets/sheet1.xml` and so on. */
export function packageParts(sheets: string[]): [name: string, xml: string][] {
  const override = (part: string, type: string) => `<Override PartName="/${part}" ContentType="${type}"/>`;
  const sheetPart = (n: number) => `worksheets/sheet${n + 1}.xml`;
  return [
    [
      '[Content_Types].xml',
      `${XML}<Types xmlns="${PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>${[
        override('xl/workbook.xml', `${CONTENT}.sheet.main+xml`),
        override('xl/styles.xml', `${CONTENT}.styles+xml`),
        override('docProps/core.xml', 'application/vnd.openxmlformats-package.core-properties+xml'),
        ...sheets.map((_, n) => override(`xl/${sheetPart(n)}`, `${CONTENT}.worksheet+xml`)),
      ].join('')}</Types>`,
    ],
    [
      '_rels/.rels',
      relationships([
        [`${OFFICE}/officeDocument`, 'xl/workbook.xml'],
        [`${PACKAGE}/relationships/metadata/core-properties`, 'docProps/core.xml'],
      ]),
    ],
    [
      'docProps/core.xml',
      `${XML}<cp:coreProperties xmlns:cp="${CORE}" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>Estate</dc:creator></cp:coreProperties>`,
    ],
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
