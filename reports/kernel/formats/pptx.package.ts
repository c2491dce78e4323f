import { envelope, OFFICE, relationships, XML } from './ooxml.package.ts';

// The parts of a presentation around its slides (ECMA-376 part 1, 13 and 14)

const MAIN = 'http://schemas.openxmlformats.org/drawingml/2006/main';
/** The namespaces of every part with drawings. */
export const NAMESPACES = `xmlns:a="${MAIN}" xmlns:r="${OFFICE}" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"`;
const CONTENT = 'application/vnd.openxmlformats-officedocument.presentationml';
/** The size of a slide in EMU, 914,400 to the inch: 16 to 9. */
export const SLIDE = { width: 12_192_000, height: 6_858_000 };

const colours = [
  ['dk1', '17181B'],
  ['lt1', 'FFFFFF'],
  ['dk2', '1C3D5A'],
  ['lt2', 'EEF2F6'],
  ...['2F6FDE', '0E8A7B', 'B3621B', '7A4FC9', 'B03A6B', '5F6B7A'].map((value, n) => [
    `accent${n + 1}`,
    value,
  ]),
  ['hlink', '1D5FA8'],
  ['folHlink', '54575F'],
];
const face = '<a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/>';
const fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>';
const thrice = (xml: string) => xml.repeat(3);

const themeXml = `${XML}<a:theme xmlns:a="${MAIN}" name="Estate"><a:themeElements><a:clrScheme name="Estate">${colours
  .map(([name, value]) => `<a:${name}><a:srgbClr val="${value}"/></a:${name}>`)
  .join(
    '',
  )}</a:clrScheme><a:fontScheme name="Estate"><a:majorFont>${face}</a:majorFont><a:minorFont>${face}</a:minorFont></a:fontScheme>
<a:fmtScheme name="Estate"><a:fillStyleLst>${thrice(fill)}</a:fillStyleLst><a:lnStyleLst>${thrice(
  `<a:ln w="9525">${fill}</a:ln>`,
)}</a:lnStyleLst><a:effectStyleLst>${thrice('<a:effectStyle><a:effectLst/></a:effectStyle>')}</a:effectStyleLst>
<a:bgFillStyleLst>${thrice(fill)}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>`;

/** The beginning of a tree of shapes; they have ids from 2 on. */
export const GROUP =
  '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>';

const accents = [1, 2, 3, 4, 5, 6].map((n) => `accent${n}="accent${n}"`).join(' ');
const map = `bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" ${accents} hlink="hlink" folHlink="folHlink"`;
const masterXml = `${XML}<p:sldMaster ${NAMESPACES}><p:cSld><p:bg><p:bgRef idx="1001"><a:schemeClr val="bg1"/></p:bgRef></p:bg>
<p:spTree>${GROUP}</p:spTree></p:cSld><p:clrMap ${map}/><p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>`;
const layoutXml = (
  language: string,
) => `${XML}<p:sldLayout ${NAMESPACES} type="titleOnly"><p:cSld name="Title only"><p:spTree>${GROUP}
<p:sp><p:nvSpPr><p:cNvPr id="2" name="Title"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr>
<p:spPr/><p:txBody><a:bodyPr/><a:lstStyle/><a:p><a:endParaRPr lang="${language}"/></a:p></p:txBody></p:sp></p:spTree></p:cSld>
<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>`;

/** A slide with its pictures, which it names `rId2` and so on. */
export interface SlidePart {
  xml: string;
  pictures: Buffer[];
}

/** The parts of a presentation. */
export function presentationParts(
  slides: readonly SlidePart[],
  language: string,
): [name: string, content: string | Buffer][] {
  const pathOf = (n: number) => `slides/slide${n + 1}.xml`;
  let images = 0;
  const slideParts = slides.flatMap(({ xml, pictures }, n): [string, string | Buffer][] => {
    const media = pictures.map((picture): [string, Buffer] => {
      images += 1;
      return [`media/image${images}.png`, picture];
    });
    const targets: [string, string][] = [
      [`${OFFICE}/slideLayout`, '../slideLayouts/slideLayout1.xml'],
      ...media.map(([path]): [string, string] => [`${OFFICE}/image`, `../${path}`]),
    ];
    return [
      [`ppt/${pathOf(n)}`, xml],
      [`ppt/slides/_rels/slide${n + 1}.xml.rels`, relationships(targets)],
      ...media.map(([path, picture]): [string, Buffer] => [`ppt/${path}`, picture]),
    ];
  });
  return [
    ...envelope(
      'ppt/presentation.xml',
      [
        ['ppt/presentation.xml', `${CONTENT}.presentation.main+xml`],
        ['ppt/slideMasters/slideMaster1.xml', `${CONTENT}.slideMaster+xml`],
        ['ppt/slideLayouts/slideLayout1.xml', `${CONTENT}.slideLayout+xml`],
        ['ppt/theme/theme1.xml', 'application/vnd.openxmlformats-officedocument.theme+xml'],
        ...slides.map((_, n): [string, string] => [`ppt/${pathOf(n)}`, `${CONTENT}.slide+xml`]),
      ],
      [['png', 'image/png']],
    ),
    [
      'ppt/presentation.xml',
      `${XML}<p:presentation ${NAMESPACES}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst>${slides
        .map((_, n) => `<p:sldId id="${256 + n}" r:id="rId${n + 2}"/>`)
        .join(
          '',
        )}</p:sldIdLst><p:sldSz cx="${SLIDE.width}" cy="${SLIDE.height}"/><p:notesSz cx="${SLIDE.height}" cy="${SLIDE.width}"/></p:presentation>`,
    ],
    [
      'ppt/_rels/presentation.xml.rels',
      relationships([
        [`${OFFICE}/slideMaster`, 'slideMasters/slideMaster1.xml'],
        ...slides.map((_, n): [string, string] => [`${OFFICE}/slide`, pathOf(n)]),
        [`${OFFICE}/theme`, 'theme/theme1.xml'],
      ]),
    ],
    ['ppt/theme/theme1.xml', themeXml],
    ['ppt/slideMasters/slideMaster1.xml', masterXml],
    [
      'ppt/slideMasters/_rels/slideMaster1.xml.rels',
      relationships([
        [`${OFFICE}/slideLayout`, '../slideLayouts/slideLayout1.xml'],
        [`${OFFICE}/theme`, '../theme/theme1.xml'],
      ]),
    ],
    ['ppt/slideLayouts/slideLayout1.xml', layoutXml(language)],
    [
      'ppt/slideLayouts/_rels/slideLayout1.xml.rels',
      relationships([[`${OFFICE}/slideMaster`, '../slideMasters/slideMaster1.xml']]),
    ],
    ...slideParts,
  ];
}
