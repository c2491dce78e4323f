import type { Db } from '../../../../platform/database.ts';

/** What a run is at, by its statements: `here` and `outside` are the two halves of applying. */
export const stages = ['read', 'match', 'plan', 'here', 'outside', 'verify'] as const;
export type Stage = (typeof stages)[number];

export type Moment = 'before' | 'after';

const stageOf: Record<string, Stage | undefined> = {
  read: 'read',
  match: 'match',
  plan: 'plan',
  apply: 'here',
  verify: 'verify',
};

type Query = { sql: string; bindings?: unknown[] };

/**
 * Follows a run by the statements that are sent for it. @param notify called before each is sent and after each is answered.
 * @returns what ends it.
 */
export function watchStages(db: Db, notify: (stage: Stage, moment: Moment) => void): () => void {
  let stage: Stage = 'read';
  const reach = (name: unknown) => {
    const reached = stageOf[String(name)];
    // applying outside lasts until the run verifies what it has written
    if (reached && !(reached === 'here' && stage === 'outside')) stage = reached;
  };
  const before = ({ sql, bindings }: Query) => {
    if (/^update "itsm_plan_rows" set "progress" = /.test(sql) && bindings?.includes('started'))
      stage = 'outside';
    notify(stage, 'before');
  };
  const after = (response: { rows?: { stage?: unknown }[] } | undefined, { sql, bindings }: Query) => {
    if (/^update "itsm_runs" set "stage" = /.test(sql)) reach(bindings?.[0]);
    else if (/from itsm_runs r where r.id = /.test(sql)) reach(response?.rows?.[0]?.stage);
    notify(stage, 'after');
  };
  db.on('query', before);
  db.on('query-response', after);
  return () => {
    db.removeListener('query', before);
    db.removeListener('query-response', after);
  };
}
