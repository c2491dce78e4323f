import type { Ctx } from '../../../domain/kernel/context.ts';
import { containerName, odataModel } from './model/model.build.ts';
import type { EntitySet, Navigation, ODataModel, ODataProperty } from './model/model.types.ts';
import { contextOf } from './odata.items.ts';
import type { Wire } from './odata.wire.ts';

/** A constant or structured value of an annotation; the XML and the JSON document are written from it. */
type AnnotationValue = string | number | boolean | AnnotationValue[] | { [member: string]: AnnotationValue };

/** Annotations by term, under the aliases of their vocabularies. */
type Annotations = Record<string, AnnotationValue>;

/** The vocabularies by alias: namespace and the address of their description. */
const vocabularies: Record<string, { namespace: string; uri: string }> = {
  Core: {
    namespace: 'Org.OData.Core.V1',
    uri: 'https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.xml',
  },
  Capabilities: {
    namespace: 'Org.OData.Capabilities.V1',
    uri: 'https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Capabilities.V1.xml',
  },
  Validation: {
    namespace: 'Org.OData.Validation.V1',
    uri: 'https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Validation.V1.xml',
  },
};

/** Capabilities of the service. */
const serviceAnnotations: Annotations = {
  'Core.ODataVersions': '4.0,4.01',
  'Capabilities.ConformanceLevel': { $enum: 'Org.OData.Capabilities.V1.ConformanceLevelType/Intermediate' },
  'Capabilities.BatchSupported': false,
  'Capabilities.AsynchronousRequestsSupported': false,
  'Capabilities.CrossJoinSupported': false,
  'Capabilities.KeyAsSegmentSupported': false,
};

/** A schema element of CSDL JSON; other members are its child elements by name, and annotations by term with `@`. */
interface CsdlElement {
  $Kind?: 'EntityContainer' | 'EntityType' | 'NavigationProperty';
  $Type?: string;
  $Collection?: boolean;
  $Nullable?: boolean;
  $Scale?: 'variable';
  $Precision?: number;
  $Key?: string[];
  $Partner?: string;
  $NavigationPropertyBinding?: Record<string, string>;
  [member: string]: unknown;
}

const annotated = (annotations: Annotations): CsdlElement =>
  Object.fromEntries(Object.entries(annotations).map(([term, value]) => [`@${term}`, value]));

function property({ type, collection, nullable, label, options }: ODataProperty): CsdlElement {
  return {
    ...(type === 'Edm.String' ? {} : { $Type: type }),
    ...(collection ? { $Collection: true } : {}),
    ...(nullable ? { $Nullable: true } : {}),
    ...(type === 'Edm.Decimal' ? { $Scale: 'variable' } : {}),
    ...(type === 'Edm.DateTimeOffset' ? { $Precision: 3 } : {}),
    '@Core.Description': label,
    ...(options.size > 0
      ? {
          '@Validation.AllowedValues': [...options].map(([Value, text]) => ({
            Value,
            '@Core.Description': text,
          })),
        }
      : {}),
  };
}

function navigation({ target, collection, nullable, label, partner }: Navigation): CsdlElement {
  return {
    $Kind: 'NavigationProperty',
    $Type: `Estate.${target}`,
    ...(collection ? { $Collection: true } : {}),
    ...(nullable ? { $Nullable: true } : {}),
    ...(partner === undefined ? {} : { $Partner: partner }),
    '@Core.Description': label,
  };
}

function entityType(set: EntitySet): CsdlElement {
  return {
    $Kind: 'EntityType',
    $Key: ['id'],
    '@Core.Description': set.label,
    ...Object.fromEntries([...set.properties].map(([name, one]) => [name, property(one)])),
    ...Object.fromEntries([...set.navigations].map(([name, one]) => [name, navigation(one)])),
  };
}

function entitySet(set: EntitySet): CsdlElement {
  return {
    $Collection: true,
    $Type: `Estate.${set.name}`,
    $NavigationPropertyBinding: Object.fromEntries(
      [...set.navigations].map(([name, { target }]) => [name, target]),
    ),
    ...annotated({
      'Core.Description': set.label,
      'Capabilities.InsertRestrictions': { Insertable: false },
      'Capabilities.UpdateRestrictions': { Updatable: false },
      'Capabilities.DeleteRestrictions': { Deletable: false },
      'Capabilities.ChangeTracking': { Supported: true },
      'Capabilities.SearchRestrictions': { Searchable: set.kind === 'card' },
      'Capabilities.ExpandRestrictions': { Expandable: true, MaxLevels: 3 },
    }),
  };
}

/** The elements of the schema by name. */
function csdlSchema({ sets }: ODataModel): Record<string, CsdlElement> {
  const all = [...sets.values()];
  return {
    ...Object.fromEntries(all.map((set) => [set.name, entityType(set)])),
    [containerName]: {
      $Kind: 'EntityContainer',
      ...annotated(serviceAnnotations),
      ...Object.fromEntries(all.map((set) => [set.name, entitySet(set)])),
    },
  };
}

/** CSDL JSON writes members of enumerations as strings without their type. */
const writeMember = (_: string, value: { $enum?: string } | null): unknown =>
  value?.$enum === undefined ? value : value.$enum.split('/').at(-1);

/** The model as CSDL JSON 4.01. */
function csdlJson(model: ODataModel): string {
  const references = Object.entries(vocabularies).map(([$Alias, { namespace, uri }]) => [
    uri.replace(/\.xml$/, '.json'),
    { $Include: [{ $Namespace: namespace, $Alias }] },
  ]);
  const document = {
    $Version: '4.01',
    $EntityContainer: `Estate.${containerName}`,
    $Reference: Object.fromEntries(references),
    Estate: csdlSchema(model),
  };
  return JSON.stringify(document, writeMember);
}

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
    const inner = element('Collection', {}, value.map((item) => expression(item).inner).join(''));
    return { attributes: {}, inner };
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
function csdlXml(model: ODataModel, version: '4.0' | '4.01'): string {
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

/** The metadata document with what the caller may read. */
export function metadataDocument(ctx: Ctx, form: 'xml' | 'json', version: Wire['version']): string {
  const model = odataModel(ctx);
  return form === 'json' ? csdlJson(model) : csdlXml(model, version);
}

/** The service document: the names and URLs of the sets. */
export function serviceDocument(ctx: Ctx, wire: Wire): string {
  const value = [...odataModel(ctx).sets.values()].map(({ name, label }) => ({
    name,
    title: label,
    kind: 'EntitySet',
    url: `${wire.root}/${name}`,
  }));
  const context = contextOf(wire, '').map((member) => member.replace('$metadata#"', '$metadata"'));
  return `{${[...context, `"value":${JSON.stringify(value)}`].join(',')}}`;
}

/** The file that opens Power BI on this service. */
export function pbidsFile(root: string): string {
  const connection = { details: { protocol: 'odata', address: { url: root } }, options: {}, mode: 'Import' };
  return JSON.stringify({ version: '0.1', connections: [connection] });
}
