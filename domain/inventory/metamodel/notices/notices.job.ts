import { deleteExpired } from '../../../kernel/extensions.ts';
import { defineRoutine } from '../../../kernel/jobs/jobs.define.ts';
import type { Deprecations } from '../../../kernel/metamodel/deprecations.ts';

/** Notifies the owners of objects that use deprecated parts, and reminds them before the removal. */
export const removalNoticesJob = defineRoutine('removal_notices');

/** Whether a change of the metamodel announces removals, or moves them. */
export const announcesMore = (before: Deprecations, after: Deprecations): boolean =>
  [...after.deprecations].some(([path, { removal }]) => before.deprecations.get(path)?.removal !== removal);

/** Deletes notices of removals that are long past. */
export const removeOldNotices = deleteExpired('deprecation_notices', `removal <= now() - interval '90 days'`);
