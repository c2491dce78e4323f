import type { ODataModel } from '../model/model.types.ts';
import { type AnnotationValue, vocabularies } from './csdl.annotations.ts';
import { type CsdlElement, csdlSchema } from './csdl.json.ts';

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Characters that XML 1.0 does not allow. */
const UNFIT = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Escapes text for an attribute and drops characters that XML does not allow. */
const escaped = (text: string): string =>
  text
    .replace(UNFIT, '')
    .replace(/[&<>"]/g, (sign) => entities[sign]!)
    .replace(/[\t\n\r]/g, ' ');

function element(
  name: string,
  attributes: Record<string, string | boolean | number | undefined>,
  inner = '',
): string {
  const list = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escaped(String(value))}"`)
    .join('');
  return inner === '' ? `<${name}${list}/>` : `<${name}${list}>${inner}</${name}>`;
}

/** Writes a value as an attribute of the annotation, or as a child element. */
function expression(value: AnnotationValue): { attributes: Record<string, string>; inner: string } {
  if (typeof value === 'string') return { attributes: { String: value }, inner: '' };
  if (typeof value === 'boolean') return { attributes: { Bool: String(value) }, inner: '' };
  if (typeof value === 'number') return { attributes: { Int: String(value) }, inner: '' };
  if (Array.isArray(value)) {
    return {
      attributes: {},
      inner: element('Collection', {}, value.map((item) => expression(item).inner).join('')),
    };
  }
  if ('$enum' in value) return { attributes: { EnumMember: String(value.$enum) }, inner: '' };
  const members = Object.entries(value).map(([name, member]) => {
    const { attributes, inner } = expression(member);
    return name.startsWith('@')
      ? element('Annotation', { Term: name.slice(1), ...attributes }, inner)
      : element('PropertyValue', { Property: name, ...attributes }, inner);
  });
  return { attributes: {}, inner: element('Record', {}, members.join('')) };
}

/** The members of an element whose names are annotations, or not. */
const membersOf = (of: CsdlElement, areAnnotations: boolean): [string, unknown][] =>
  Object.entries(of).filter(([name]) => !name.startsWith('$') && name.startsWith('@') === areAnnotations);

const annotationsOf = (of: CsdlElement): string =>
  membersOf(of, true)
    .map(([name, value]) => {
      const { attributes, inner } = expression(value as AnnotationValue);
      return element('Annotation', { Term: name.slice(1), ...attributes }, inner);
    })
    .join('');

/** Writes an element of CSDL JSON as XML, with its child elements before its annotations. */
function schemaElement(Name: string, of: CsdlElement): string {
  const { $Kind, $Type = 'Edm.String', $Collection, $Nullable, $NavigationPropertyBinding: bindings } = of;
  const children = membersOf(of, false).map(([name, child]) => schemaElement(name, child as CsdlElement));
  const inner = children.join('') + annotationsOf(of);
  if ($Kind === 'EntityContainer') return element($Kind, { Name }, inner);
  if ($Kind === 'EntityType') {
    const keys = of.$Key!.map((key) => element('PropertyRef', { Name: key }));
    return element($Kind, { Name }, element('Key', {}, keys.join('')) + inner);
  }
  if (bindings) {
    const paths = Object.entries(bindings).map(([Path, Target]) =>
      element('NavigationPropertyBinding', { Path, Target }),
    );
    return element('EntitySet', { Name, EntityType: $Type }, paths.join('') + inner);
  }
  return element(
    $Kind ?? 'Property',
    {
      Name,
      Type: $Collection ? `Collection(${$Type})` : $Type,
      // must not be specified for a collection of entities (CSDL XML 4.01, 8.3)
      Nullable: $Nullable || ($Kind && $Collection) ? undefined : false,
      Scale: of.$Scale,
      Precision: of.$Precision,
      Partner: of.$Partner,
    },
    inner,
  );
}

/** The model as CSDL XML, in the protocol's version that the client understands. */
export function csdlXml(model: ODataModel, version: '4.0' | '4.01'): string {
  const references = Object.entries(vocabularies).map(([Alias, { namespace, uri }]) =>
    element('edmx:Reference', { Uri: uri }, element('edmx:Include', { Namespace: namespace, Alias })),
  );
  const schema = element(
    'Schema',
    { xmlns: 'http://docs.oasis-open.org/odata/ns/edm', Namespace: 'Estate' },
    Object.entries(csdlSchema(model))
      .map(([name, of]) => schemaElement(name, of))
      .join(''),
  );
  return `<?xml version="1.0" encoding="utf-8"?>\n${element(
    'edmx:Edmx',
    { 'xmlns:edmx': 'http://docs.oasis-open.org/odata/ns/edmx', Version: version },
    references.join('') + element('edmx:DataServices', {}, schema),
  )}\n`;
}
