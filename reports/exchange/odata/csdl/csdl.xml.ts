import { containerName } from '../model/model.names.ts';
import type { EntitySet, Navigation, ODataModel, ODataProperty } from '../model/model.types.ts';
import {
  type Annotations,
  type AnnotationValue,
  serviceAnnotations,
  setAnnotations,
  vocabularies,
} from './csdl.annotations.ts';

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

const annotated = (annotations: Annotations): string =>
  Object.entries(annotations)
    .map(([Term, value]) => {
      const { attributes, inner } = expression(value);
      return element('Annotation', { Term, ...attributes }, inner);
    })
    .join('');

function property({ name, type, collection, nullable, label, options }: ODataProperty): string {
  const allowed = [...options].map(([Value, text]) => ({ Value, '@Core.Description': text }));
  return element(
    'Property',
    {
      Name: name,
      Type: collection ? `Collection(${type})` : type,
      Nullable: nullable ? undefined : false,
      Scale: type === 'Edm.Decimal' ? 'variable' : undefined,
      Precision: type === 'Edm.DateTimeOffset' ? 3 : undefined,
    },
    annotated({
      'Core.Description': label,
      ...(allowed.length > 0 ? { 'Validation.AllowedValues': allowed } : {}),
    }),
  );
}

function navigation({ name, target, collection, nullable, label, partner }: Navigation): string {
  return element(
    'NavigationProperty',
    {
      Name: name,
      Type: collection ? `Collection(Estate.${target})` : `Estate.${target}`,
      // Nullable must not be specified for a collection (CSDL XML 4.01, 8.3)
      Nullable: collection || nullable ? undefined : false,
      Partner: partner,
    },
    annotated({ 'Core.Description': label }),
  );
}

function entityType(set: EntitySet): string {
  const inner = [
    element('Key', {}, element('PropertyRef', { Name: 'id' })),
    ...[...set.properties.values()].map(property),
    ...[...set.navigations.values()].map(navigation),
    annotated({ 'Core.Description': set.label }),
  ];
  return element('EntityType', { Name: set.name }, inner.join(''));
}

function entitySet(set: EntitySet): string {
  const bindings = [...set.navigations.values()].map(({ name, target }) =>
    element('NavigationPropertyBinding', { Path: name, Target: target }),
  );
  return element(
    'EntitySet',
    { Name: set.name, EntityType: `Estate.${set.name}` },
    [...bindings, annotated(setAnnotations(set))].join(''),
  );
}

/** The model as CSDL XML, in the protocol's version that the client understands. */
export function csdlXml(model: ODataModel, version: '4.0' | '4.01'): string {
  const sets = [...model.sets.values()];
  const references = Object.entries(vocabularies).map(([Alias, { namespace, uri }]) =>
    element('edmx:Reference', { Uri: uri }, element('edmx:Include', { Namespace: namespace, Alias })),
  );
  const schema = element(
    'Schema',
    { xmlns: 'http://docs.oasis-open.org/odata/ns/edm', Namespace: 'Estate' },
    [
      ...sets.map(entityType),
      element(
        'EntityContainer',
        { Name: containerName },
        sets.map(entitySet).join('') + annotated(serviceAnnotations),
      ),
    ].join(''),
  );
  return `<?xml version="1.0" encoding="utf-8"?>\n${element(
    'edmx:Edmx',
    { 'xmlns:edmx': 'http://docs.oasis-open.org/odata/ns/edmx', Version: version },
    references.join('') + element('edmx:DataServices', {}, schema),
  )}\n`;
}
