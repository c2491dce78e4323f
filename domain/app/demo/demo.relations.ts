import type { DemoRelation, DemoRelationRow } from './demo.types.ts';

type Attributes = Record<string, unknown>;

const crudFields: Record<string, string> = {
  C: 'crudCreate',
  R: 'crudRead',
  U: 'crudUpdate',
  D: 'crudDelete',
};

const crud = (letters: string): Attributes =>
  Object.fromEntries([...letters].map((letter) => [crudFields[letter]!, true]));

/** The meaning of the detail after a target's colon, by relation type. */
const details: Record<string, (detail: string) => Attributes> = {
  relOrgToApp: (usageType) => ({ usageType }),
  relProcessToApp: (usageType) => ({ usageType }),
  relAppToBC: (supportType) => ({ supportType }),
  relProcessToBC: (supportType) => ({ supportType }),
  relAppToInterface: (flowDirection) => ({ flowDirection }),
  relAppToDataObj: crud,
  relProcessToDataObj: crud,
  relAppToITC: (cost) => ({ costTotalAnnual: Number(cost) }),
};

/** One relation for each target of a table row. */
export function expandRelations([type, source, targets]: DemoRelationRow): DemoRelation[] {
  return targets.split(' ').map((entry) => {
    const [target, detail] = entry.split(':') as [string, string | undefined];
    const relation: DemoRelation = { type, source_external_id: source, target_external_id: target };
    if (detail !== undefined) relation.attributes = details[type]!(detail);
    return relation;
  });
}
