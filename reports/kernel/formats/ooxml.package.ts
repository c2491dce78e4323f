// The parts that every Office Open XML package has (ECMA-376 part 2)

export const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
/** The prefix of relationship types. */
export const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const CORE = `${PACKAGE}/metadata/core-properties`;

/** The part with relationships, `rId1` and so on, to parts by their paths. */
export const relationships = (targets: [type: string, target: string][]): string =>
  `${XML}<Relationships xmlns="${PACKAGE}/relationships">${targets
    .map(([type, target], n) => `<Relationship Id="rId${n + 1}" Type="${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

/**
 * The content types, relationships and properties of a package.
 * @param main path of its main part. @param parts media types of all XML parts by path. @param media those of other files by
 * extension.
 */
export function envelope(
  main: string,
  parts: [path: string, type: string][],
  media: [extension: string, type: string][] = [],
): [name: string, xml: string][] {
  const defaults: [string, string][] = [
    ['rels', 'application/vnd.openxmlformats-package.relationships+xml'],
    ['xml', 'application/xml'],
    ...media,
  ];
  const overrides: [string, string][] = [
    ...parts,
    ['docProps/core.xml', 'application/vnd.openxmlformats-package.core-properties+xml'],
  ];
  return [
    [
      '[Content_Types].xml',
      `${XML}<Types xmlns="${PACKAGE}/content-types">${defaults
        .map(([extension, type]) => `<Default Extension="${extension}" ContentType="${type}"/>`)
        .join('')}${overrides
        .map(([path, type]) => `<Override PartName="/${path}" ContentType="${type}"/>`)
        .join('')}</Types>`,
    ],
    [
      '_rels/.rels',
      relationships([
        [`${OFFICE}/officeDocument`, main],
        [`${PACKAGE}/relationships/metadata/core-properties`, 'docProps/core.xml'],
      ]),
    ],
    [
      'docProps/core.xml',
      `${XML}<cp:coreProperties xmlns:cp="${CORE}" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>Estate</dc:creator></cp:coreProperties>`,
    ],
  ];
}
