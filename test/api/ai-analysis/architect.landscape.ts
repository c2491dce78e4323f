import type { TestClient } from '../../support/harness.ts';

/** A landscape whose gaps are known. Ids by name. */
export interface Landscape {
  ids: Record<string, string>;
  /** What a session about the objective sends. */
  session: { objectiveIds: string[]; requirement: string };
}

/**
 * An objective that rests on Sales, below which Ordering (three applications), Billing (one, past its end) and Returns
 * (none) lie; the applications have users, data and a component that ends.
 */
export async function makeLandscape(admin: TestClient): Promise<Landscape> {
  const ids: Record<string, string> = {};
  const card = async (type: string, name: string, more: object = {}) => {
    const answer = await admin.post('/api/v1/cards', { type, name, ...more });
    if (answer.status !== 201) throw new Error(answer.text);
    ids[name] = answer.body.id;
  };
  await card('Objective', 'One order desk');
  await card('BusinessCapability', 'Sales', { description: 'Sells things' });
  for (const name of ['Ordering', 'Billing', 'Returns'])
    await card('BusinessCapability', name, { parent_id: ids.Sales });
  await card('BusinessCapability', 'Warehousing');
  const strong = {
    businessCriticality: 'missionCritical',
    functionalSuitability: 'perfect',
    timeModel: 'tolerate',
  };
  await card('Application', 'Desk', { attributes: { ...strong, costTotalAnnual: 1000 } });
  await card('Application', 'Forms', {
    attributes: { technicalSuitability: 'inappropriate', timeModel: 'tolerate', costTotalAnnual: 300 },
  });
  await card('Application', 'Regional', { attributes: { timeModel: 'migrate' } });
  await card('Application', 'Ledger', {
    lifecycle: { active: '2001-01-01', endOfLife: '2020-06-30' },
    attributes: { businessCriticality: 'businessCritical', hostingType: 'onPremise' },
  });
  await card('Organization', 'Branches');
  await card('DataObject', 'Order');
  await card('ITComponent', 'Old database', { lifecycle: { endOfLife: '2021-01-01' } });
  const relate = (type: string, source: string, target: string) => ({
    row_index: 0,
    action: 'upsert',
    type,
    source: { id: ids[source] },
    target: { id: ids[target] },
  });
  const operations = [
    relate('relObjectiveToBC', 'One order desk', 'Sales'),
    relate('relAppToBC', 'Desk', 'Ordering'),
    relate('relAppToBC', 'Forms', 'Ordering'),
    relate('relAppToBC', 'Regional', 'Ordering'),
    relate('relAppToBC', 'Regional', 'Warehousing'),
    relate('relAppToBC', 'Ledger', 'Billing'),
    relate('relOrgToApp', 'Branches', 'Forms'),
    relate('relAppToDataObj', 'Forms', 'Order'),
    relate('relAppToDataObj', 'Ledger', 'Order'),
    relate('relAppToITC', 'Desk', 'Old database'),
  ].map((operation, row_index) => ({ ...operation, row_index }));
  const answer = await admin.post('/api/v1/relations/bulk', { operations });
  if (answer.status !== 200 || answer.body.failed > 0) throw new Error(answer.text);
  return { ids, session: { objectiveIds: [ids['One order desk']!], requirement: 'One way to take orders' } };
}

/** What somebody may who plans without seeing costs. */
export const plannerRights = ['inventory.view', 'relations.view', 'ai_analysis.view', 'ai_analysis.manage'];
