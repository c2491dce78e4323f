import Type, { type Static } from 'typebox';
import { embed, query } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { arrayOf, Count, Nullable, NullableText, object } from '../../kernel/shapes.ts';
import { tiers } from './duplicates.model.ts';

/** From this score on a pair is a match. */
const MATCH = tiers.probable;

const Share = Nullable(Type.Number({ minimum: 0, maximum: 1 }));
/** The agreement of results with decisions; null without decisions. */
const Agreement = object({ precision: Share, recall: Share });

/** The quality of the search by the decisions, by card type. */
export const DuplicateQualitySchema = object(
  {
    items: arrayOf({
      card_type: Type.String(),
      confirmed: Count,
      dismissed: Count,
      investigating: Count,
      before_decision: { ...Agreement, description: 'By the scores of pairs before their decision' },
      now: {
        ...Agreement,
        description: 'By the scores of the last run, which has learned from decisions',
      },
      model: NullableText('The version of the model that was applied last'),
      learn_advised: Type.Boolean({
        description: 'The cards differ much from those that the model was learned from: run with `learn`',
      }),
    }),
  },
  { $id: 'DuplicateQuality' },
);

/** Precision and recall on decided pairs, by card type. @throws EstateError `forbidden`. */
export async function qualityOf(ctx: Ctx): Promise<Static<typeof DuplicateQualitySchema>> {
  requirePermission(ctx.caller, 'ai_analysis.view');
  const agreement = (score: string, among: string) => `json_build_object(
    'precision', avg((e.decision = 'confirmed')::int)
      filter (where e.decision <> 'investigating' and ${score} >= ${MATCH}),
    'recall', avg((coalesce(${score}, 0) >= ${MATCH})::int) filter (where e.decision = 'confirmed' and ${among}))`;
  const rows = await query(ctx.db).rows`with decided as (
       select e.card_type,
         count(*) filter (where e.decision = 'confirmed')::int as confirmed,
         count(*) filter (where e.decision = 'dismissed')::int as dismissed,
         count(*) filter (where e.decision = 'investigating')::int as investigating,
         ${embed(agreement('e.score', 'true'))} as before_decision,
         ${embed(agreement('p.score', 'pair.there'))} as now
       from duplicate_decisions e
       left join duplicate_pairs p on p.id = e.id
       -- of cards that were merged or archived since nothing can be found
       cross join lateral (select count(*) = 2 as there from cards c
         where c.id in (e.left_id, e.right_id) and c.status = 'ACTIVE') pair
       group by e.card_type
     )
     select t.card_type, coalesce(d.confirmed, 0) as confirmed, coalesce(d.dismissed, 0) as dismissed,
       coalesce(d.investigating, 0) as investigating,
       coalesce(d.before_decision, '{"precision": null, "recall": null}') as before_decision,
       coalesce(d.now, '{"precision": null, "recall": null}') as now,
       s.model_id as model, coalesce((s.figures ->> 'learn_advised')::boolean, false) as learn_advised
     from (select card_type from duplicate_states union select card_type from decided) t
     left join decided d using (card_type) left join duplicate_states s using (card_type)
     where t.card_type = any(${ctx.metamodel.visibleTypes}::text[]) order by t.card_type`;
  return { items: rows };
}
