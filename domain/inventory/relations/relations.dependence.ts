import type { Metamodel, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';

/** Which end of a relation depends on the other one; `flow`: by the direction in which its data flows. */
export type Dependent = 'source' | 'target' | 'flow' | 'none';

/** The built-in relation types of which something else holds than of their card types. */
const builtIn: Readonly<Record<string, Dependent>> = {
  relObjectiveToBC: 'none',
  relPlatformToObjective: 'target',
  relPlatformToApp: 'target',
  relPlatformToITC: 'target',
  relInitiativeToObjective: 'target',
  relInitiativeToPlatform: 'none',
  relInitiativeToBC: 'none',
  relInitiativeToApp: 'none',
  relInitiativeToInterface: 'none',
  relInitiativeToDataObj: 'none',
  relInitiativeToITC: 'none',
  relOrgToObjective: 'none',
  relOrgToInitiative: 'none',
  relOrgToBizCtx: 'none',
  relOrgToITC: 'none',
  relAppToInterface: 'flow',
  relITCToTechCat: 'none',
  relITCToPlatform: 'target',
  relInterfaceToDataObj: 'none',
  relBizCtxToBC: 'none',
  relProviderToITC: 'target',
  relProcessToBC: 'target',
  relProcessToOrg: 'none',
  relProcessToInitiative: 'none',
  relProcessToObjective: 'target',
  relProcessToBizCtx: 'target',
};

/**
 * Which end depends on the other. Of types that are not built in, the end in the upper category of the metamodel, else the
 * source: a process depends on an application, an application on a component. Successors do not depend on each other.
 */
export function dependentEnd({ cardTypes }: Metamodel, type: RelationType): Dependent {
  const known = builtIn[type.key];
  if (known) return known;
  if (type.key.endsWith('Successor')) return 'none';
  const categories = [...new Set([...cardTypes.values()].map(({ category }) => category ?? ''))];
  const rank = (key: string) => categories.indexOf(cardTypes.get(key)?.category ?? '');
  return rank(type.target_type_key) < rank(type.source_type_key) ? 'target' : 'source';
}
