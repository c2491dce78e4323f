import { forbidden } from '../../kernel/permissions/policy.ts';

/**
 * Refuses cost values from those who may not see them; their patches keep the stored ones.
 * @throws EstateError `forbidden` naming `costs.view`.
 */
export function refuseHiddenCosts(
  costKeys: readonly string[],
  attributes: Record<string, unknown> | null | undefined,
  seesCosts: boolean,
): void {
  if (seesCosts || !attributes) return;
  if (costKeys.some((key) => Object.hasOwn(attributes, key))) throw forbidden('costs.view');
}
