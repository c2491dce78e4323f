import { containerName } from '../model/model.names.ts';
import type { EntitySet, Navigation, ODataModel, ODataProperty } from '../model/model.types.ts';
import {
  type Annotations,
  type AnnotationValue,
  serviceAnnotations,
  setAnnotations,
  vocabularies,
} from './csdl.annotations.ts';

type Json = Record<string, unknown>;

/** An annotation's value; CSDL JSON writes enumeration members as strings. */
function plain(value: AnnotationValue): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object') return value;
  if ('$enum' in value) return String(value.$enum).split('/').at(-1);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

const annotated = (annotations: Annotations): Json =>
  Object.fromEntries(Object.entries(annotations).map(([term, value]) => [`@${term}`, plain(value)]));

function property({ type, collection, nullable, label, options }: ODataProperty): Json {
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

function navigation({ target, collection, nullable, label, partner }: Navigation): Json {
  return {
    $Kind: 'NavigationProperty',
    $Type: `Estate.${target}`,
    ...(collection ? { $Collection: true } : {}),
    ...(nullable ? { $Nullable: true } : {}),
    ...(partner === undefined ? {} : { $Partner: partner }),
    '@Core.Description': label,
  };
}

function entityType(set: EntitySet): Json {
  return {
    $Kind: 'EntityType',
    $Key: ['id'],
    '@Core.Description': set.label,
    ...Object.fromEntries([...set.properties].map(([name, one]) => [name, property(one)])),
    ...Object.fromEntries([...set.navigations].map(([name, one]) => [name, navigation(one)])),
  };
}

/** The model as CSDL JSON 4.01. */
export function csdlJson(model: ODataModel): string {
  const sets = [...model.sets.values()];
  const container: Json = {
    $Kind: 'EntityContainer',
    ...annotated(serviceAnnotations),
    ...Object.fromEntries(
      sets.map((set) => [
        set.name,
        {
          $Collection: true,
          $Type: `Estate.${set.name}`,
          $NavigationPropertyBinding: Object.fromEntries(
            [...set.navigations].map(([name, { target }]) => [name, target]),
          ),
          ...annotated(setAnnotations(set)),
        },
      ]),
    ),
  };
  const references = Object.entries(vocabularies).map(([$Alias, { namespace, uri }]) => [
    uri.replace(/\.xml$/, '.json'),
    { $Include: [{ $Namespace: namespace, $Alias }] },
  ]);
  return JSON.stringify({
    $Version: '4.01',
    $EntityContainer: `Estate.${containerName}`,
    $Reference: Object.fromEntries(references),
    Estate: {
      ...Object.fromEntries(sets.map((set) => [set.name, entityType(set)])),
      [containerName]: container,
    },
  });
}
