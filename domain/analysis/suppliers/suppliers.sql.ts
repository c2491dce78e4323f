import { costsOfCard } from '../../inventory/cards/cards.costs.ts';
import type { Ctx } from '../../kernel/context.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { SUPPLIED_TYPES } from './suppliers.read.ts';

/** Options of `businessCriticality` that say that the business stands still without the application. */
export const CRITICAL = `('missionCritical', 'businessCritical')`;

/** A card's share of costs, of which as many suppliers as `k.shared_by` have one each; null for who may not see costs. */
export const shareOfCosts = (ctx: Ctx): string =>
  may(ctx.caller, 'costs.view')
    ? `${costsOfCard(ctx.metamodel, SUPPLIED_TYPES)} / k.shared_by`
    : 'null::numeric';
