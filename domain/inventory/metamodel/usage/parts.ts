import type { CompiledField, Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';

/** The usable parts of a metamodel, with lookups of the types that have a field, subtype or role. */
export interface MetamodelParts {
  /** By path, what consumers rely on besides its existence: a change of it breaks them. */
  signatures: ReadonlyMap<string, string>;
  /** Card types by `field.<key>`, `subtype.<key>`, `role.<key>`. */
  types: ReadonlyMap<string, readonly string[]>;
}

const known = new WeakMap<Metamodel, MetamodelParts>();

/**
 * The visible types with their fields, options, subtypes and roles, by path: `type:T`, `field:T.f`, `option:T.f.o`,
 * `subtype:T.s`, `role:T.r`, `relation_type:R`, `relation_field:R.f`, `relation_option:R.f.o`.
 */
export function partsOf(metamodel: Metamodel): MetamodelParts {
  let parts = known.get(metamodel);
  if (!parts) {
    parts = collect(metamodel);
    known.set(metamodel, parts);
  }
  return parts;
}

/** Texts of every kind are read in the same way. */
const formOf = ({ type }: CompiledField): string =>
  type === 'multiline_text' || type === 'url' ? 'text' : type;

/** A path without the key of the part itself: keys of options may contain dots. */
const pathStart = (path: string): string => /^(\w*option:\w+\.\w+\.|\w*field:\w+\.|\w+:)/.exec(path)![0];

function collect({
  visibleTypes,
  cardTypes,
  visibleRelationTypes,
  relationTypes,
  aliases,
}: Metamodel): MetamodelParts {
  const signatures = new Map<string, string>();
  const types = new Map<string, string[]>();
  const fieldsOf = (prefix: string, key: string, fields: Iterable<CompiledField>) => {
    for (const field of fields) {
      signatures.set(`${prefix}field:${key}.${field.key}`, formOf(field));
      for (const option of field.options) signatures.set(`${prefix}option:${key}.${field.key}.${option}`, '');
    }
  };
  for (const key of visibleTypes) {
    const type = cardTypes.get(key)!;
    signatures.set(`type:${key}`, '');
    fieldsOf('', key, type.fields.values());
    const named = {
      field: type.fields.keys(),
      subtype: type.subtypeKeys,
      role: type.stakeholderRoles.map((role) => role.key),
    };
    for (const [kind, keys] of Object.entries(named))
      for (const name of keys) {
        if (kind !== 'field') signatures.set(`${kind}:${key}.${name}`, '');
        const all = types.get(`${kind}.${name}`);
        if (all) all.push(key);
        else types.set(`${kind}.${name}`, [key]);
      }
  }
  for (const key of visibleRelationTypes) {
    const type = relationTypes.get(key)!;
    signatures.set(`relation_type:${key}`, `${type.source_type_key} ${type.target_type_key}`);
    fieldsOf('relation_', key, type.fields.values());
  }
  for (const [path, key] of aliases) {
    const at = pathStart(path);
    const present = signatures.get(`${at}${key}`);
    if (present === undefined || signatures.has(path)) continue;
    signatures.set(path, present);
    const [, type] = /^field:(\w+)\./.exec(at) ?? [];
    if (type === undefined) continue;
    const former = `field.${path.slice(at.length)}`;
    types.set(former, [...(types.get(former) ?? []), type]);
  }
  return { signatures, types };
}

/** The parts that a change takes away from consumers: they no longer exist, or have another type or other ends. */
export function partsBrokenBy(before: Metamodel, after: Metamodel): Set<string> {
  const now = partsOf(after).signatures;
  return new Set(
    [...partsOf(before).signatures].filter(([path, form]) => now.get(path) !== form).map(([path]) => path),
  );
}
