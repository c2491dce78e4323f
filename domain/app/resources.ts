import { undoSpecsOf } from '../kernel/extensions.ts';
import { type Resource, undoRightsOf } from '../kernel/resources/resource.ts';
import type { UndoRight, UndoSpec } from '../kernel/undo/undo.types.ts';
import { extensionList } from './extensions.ts';

/** All resources of the domain, in the order of the extensions. */
export const resources: readonly Resource[] = extensionList.flatMap((extension) => extension.resources ?? []);

/** How events are undone, by kind of object. Events of a kind without a specification cannot be undone. */
export const undoSpecs: readonly UndoSpec[] = undoSpecsOf(extensionList);

/** The rights that an undo needs, by event type or by its first part; the type takes precedence. */
export const undoRights: Readonly<Record<string, UndoRight>> = Object.assign(
  {},
  ...extensionList.map((extension) => extension.undoRights ?? {}),
  Object.fromEntries(resources.flatMap(undoRightsOf)),
);

/** Why events of a resource cannot be undone, by event type. */
export const undoRefusals: ReadonlyMap<string, string> = new Map(
  resources.flatMap(({ events, undo }) =>
    'refused' in undo
      ? [events.created, events.updated, events.deleted]
          .flatMap((types) => types ?? [])
          .map((type) => [type, undo.refused] as const)
      : [],
  ),
);
