import { containerName } from '../model/model.names.ts';
import type { EntitySet, Navigation, ODataModel, ODataProperty } from '../model/model.types.ts';
import { type Annotations, serviceAnnotations, setAnnotations, vocabularies } from './csdl.annotations.ts';

/** A schema element of CSDL JSON; other members are its child elements by name, and annotations by term with `@`. */
export interface CsdlElement {
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
    ...annotated(setAnnotations(set)),
  };
}

/** The elements of the schema by name. */
export function csdlSchema({ sets }: ODataModel): Record<string, CsdlElement> {
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
export function csdlJson(model: ODataModel): string {
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
