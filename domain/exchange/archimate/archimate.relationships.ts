import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';

/** A built-in relation type, and whether its direction is the reverse of the relationship's. */
export interface RelationTarget {
  key: string;
  turned: boolean;
}

const along = (key: string): RelationTarget => ({ key, turned: false });
const against = (key: string): RelationTarget => ({ key, turned: true });

const partOfApplication = { 'Application Interface': along('relAppToInterface') };

/**
 * The relation types that correspond to an ArchiMate relationship (ArchiMate 3.2, chapter 5) between two card types, by
 * relationship and "source target". A relationship that is missing here, such as a flow between two applications, has
 * no corresponding relation type.
 */
const relationOf: Readonly<Record<string, Readonly<Record<string, RelationTarget>>>> = {
  Serving: {
    'Application BusinessCapability': along('relAppToBC'),
    'Application BusinessContext': along('relAppToBizCtx'),
    'Application BusinessProcess': against('relProcessToApp'),
    'Application Organization': against('relOrgToApp'),
    'BusinessProcess BusinessCapability': along('relProcessToBC'),
    'BusinessProcess BusinessProcess': against('relProcessDependency'),
    'Interface Application': against('relAppToInterface'),
    'ITComponent Application': against('relAppToITC'),
    'ITComponent BusinessProcess': against('relProcessToITC'),
    'ITComponent Interface': against('relInterfaceToITC'),
  },
  Realization: {
    ...partOfApplication,
    'Application BusinessCapability': along('relAppToBC'),
    'Application BusinessContext': along('relAppToBizCtx'),
    'BusinessProcess BusinessCapability': along('relProcessToBC'),
    'BusinessProcess BusinessContext': along('relProcessToBizCtx'),
    'BusinessProcess Objective': along('relProcessToObjective'),
    'Initiative Application': along('relInitiativeToApp'),
    'Initiative DataObject': along('relInitiativeToDataObj'),
    'Initiative Interface': along('relInitiativeToInterface'),
    'Initiative ITComponent': along('relInitiativeToITC'),
    'Initiative Objective': along('relInitiativeToObjective'),
    'ITComponent Application': against('relAppToITC'),
    'ITComponent Interface': against('relInterfaceToITC'),
  },
  Assignment: {
    ...partOfApplication,
    'ITComponent Application': against('relAppToITC'),
    'Organization BusinessProcess': against('relProcessToOrg'),
  },
  Composition: partOfApplication,
  Aggregation: partOfApplication,
  Access: {
    'Application DataObject': along('relAppToDataObj'),
    'BusinessProcess DataObject': along('relProcessToDataObj'),
    'Interface DataObject': along('relInterfaceToDataObj'),
  },
};

/**
 * The visible relation type that a relationship of another tool becomes, or undefined if that is ambiguous. An
 * Association only says that two elements are related, so it becomes the relation type that connects their card types
 * if there is exactly one.
 */
export function relationTypeOf(
  metamodel: Metamodel,
  relationship: string,
  source: string,
  target: string,
): RelationTarget | undefined {
  if (relationship === 'Association') return onlyRelationType(metamodel, source, target);
  const targets = Object.hasOwn(relationOf, relationship) ? relationOf[relationship]! : {};
  const key = `${source} ${target}`;
  const found = Object.hasOwn(targets, key) ? targets[key]! : undefined;
  return found && metamodel.visibleRelationTypes.includes(found.key) ? found : undefined;
}

function onlyRelationType(metamodel: Metamodel, source: string, target: string): RelationTarget | undefined {
  // For two cards of one type the direction would be ambiguous (successor or predecessor).
  if (source === target) return undefined;
  const joining = metamodel.visibleRelationTypes
    .map((key) => metamodel.relationTypes.get(key)!)
    .flatMap(({ key, source_type_key: from, target_type_key: to }) => {
      if (from === source && to === target) return [along(key)];
      return from === target && to === source ? [against(key)] : [];
    });
  return joining.length === 1 ? joining[0] : undefined;
}
