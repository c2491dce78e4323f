import { embed, fragment } from '../../../platform/database.ts';
import { replaceWords } from '../../inventory/metamodel/usage/params.ts';
import { References } from '../../inventory/metamodel/usage/references.ts';
import { ownRows } from '../../kernel/jobs/jobs.enqueue.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { may } from '../../kernel/permissions/policy.ts';
import type { ExportRequest } from './export.job.ts';
import { renameInSchedule } from './exports.rename.ts';

/** Extraction schedules. */
export const scheduleConsumers = defineConsumers<Partial<ExportRequest>>({
  tables: ['extraction_schedules'],
  rows({ caller }) {
    const isOwn = may(caller, 'admin.settings') ? fragment`true` : ownRows(caller, 'e');
    return fragment`select e.id::text, 'extraction_schedule' as kind, e.name, e.owner_id,
        (select max(r.slot) from extraction_runs r where r.schedule_id = e.id and r.status = 'succeeded') as last_used_at,
        '/api/v1/extraction-schedules/' || e.id as link,
        ${may(caller, 'inventory.export')}::boolean and coalesce((${embed(isOwn)}), false) as is_visible, e.request as content
      from extraction_schedules e where e.request is not null`;
  },
  references(request, metamodel) {
    const { kind = 'cards', types = [], filter } = request;
    const found = new References(metamodel);
    const isRelations = kind === 'relations';
    const scope = isRelations || types.length === 0 ? undefined : types;
    for (const key of types) {
      if (isRelations) found.relationType(key);
      else found.type(key);
    }
    if (filter) request.filter = found.filter(filter, scope);
    for (const member of ['columns', 'sort_by'])
      replaceWords(request, member, (word) => {
        const [, sign = '', name = ''] = /^(-?)(.*)$/s.exec(word)!;
        if (!isRelations) return `${sign}${found.path(name, scope)}`;
        if (name.startsWith('attributes.')) found.relationFieldOf(types, name.slice('attributes.'.length));
        return word;
      });
    return found.all;
  },
  async write(work, id, request) {
    await renameInSchedule(work, id, request);
  },
});
