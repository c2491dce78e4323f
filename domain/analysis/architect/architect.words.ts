import type { CompiledField, Metamodel, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import type { ScopeApplication } from './architect.types.ts';

/** The card types of sessions; a hidden type has no cards. */
export const APPLICATION = 'Application';
export const CAPABILITY = 'BusinessCapability';
export const INITIATIVE = 'Initiative';
export const OBJECTIVE = 'Objective';

/** A relation type between two card types, and whether the first is its source. */
export interface DirectedRelationType {
  type: RelationType;
  forward: boolean;
}

/** The first relation type that connects cards of two types, in the metamodel's order. */
export function findRelationType(
  metamodel: Metamodel,
  from: string,
  to: string,
): DirectedRelationType | undefined {
  for (const key of metamodel.visibleRelationTypes) {
    const type = metamodel.relationTypes.get(key)!;
    if (type.source_type_key === from && type.target_type_key === to) return { type, forward: true };
    if (type.source_type_key === to && type.target_type_key === from) return { type, forward: false };
  }
  return undefined;
}

/** Keys of the relation types between cards of two types. */
export function relationTypesBetween(metamodel: Metamodel, one: string, other: string): string[] {
  return metamodel.visibleRelationTypes.filter((key) => {
    const { source_type_key: source, target_type_key: target } = metamodel.relationTypes.get(key)!;
    return (source === one && target === other) || (source === other && target === one);
  });
}

/** A field of applications, if the workspace has it. */
const fieldOf = (metamodel: Metamodel, key: string): CompiledField | undefined =>
  metamodel.cardTypes.get(APPLICATION)?.fields.get(key);

/** Whether applications can have the option. */
export const hasOption = (metamodel: Metamodel, field: string, option: string): boolean =>
  (fieldOf(metamodel, field)?.options.has(option) && !fieldOf(metamodel, field)!.calculated) ?? false;

/** The label of an application's value of a field. */
export function labelOf(
  metamodel: Metamodel,
  field: string,
  { attributes }: ScopeApplication,
): string | null {
  const value = attributes[field];
  if (typeof value !== 'string') return null;
  return fieldOf(metamodel, field)?.optionLabels.get(value) ?? value;
}

/** The index of an application's option among those of the field, 0 for the first; null if none is set. */
export function optionIndex(
  metamodel: Metamodel,
  field: string,
  { attributes }: ScopeApplication,
): number | null {
  const options = [...(fieldOf(metamodel, field)?.options ?? [])];
  const place = options.indexOf(String(attributes[field] ?? ''));
  return place < 0 ? null : place;
}

/** Whether an application's option is in the worse half of a scale from good to bad. */
export function isLow(metamodel: Metamodel, field: string, application: ScopeApplication): boolean {
  const place = optionIndex(metamodel, field, application);
  return place !== null && place >= fieldOf(metamodel, field)!.options.size / 2;
}

/** Names as a list in a sentence; a long list is truncated. */
export function listed(names: string[], most = 5): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
