import Type from 'typebox';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers } from '../../kernel/lists/lists.run.ts';
import { DateOnly, Uuid } from '../../kernel/shapes.ts';
import { AiUsage } from '../runs/runs.ts';

const { provider: provider_type, ...columns } = columnMembers('u', AiUsage);

/** The usage of models, by day, run, purpose and model. */
export const usageList = defineList({
  name: 'ai-usage',
  permission: 'admin.settings',
  from: 'ai_usage u',
  id: 'u.id',
  sorts: {
    day: { sql: 'u.day::text', type: 'text', immutable: true },
    purpose: { sql: 'u.purpose', type: 'text', immutable: true },
  },
  defaultSort: 'day',
  defaultDir: 'desc',
  filters: {
    day: [Type.String({ ...DateOnly, description: 'In UTC' }), 'u.day = ?'],
    run_id: [Type.String({ ...Uuid, description: 'Only usage of this analysis run' }), 'u.run_id = ?'],
  },
  members: { ...columns, provider_type },
});
