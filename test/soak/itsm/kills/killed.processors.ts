import type { JobProcessor } from '../../../../domain/kernel/jobs/jobs.running.ts';
import { systemClock } from '../../../../integrations/exchange/itsm/remote.ts';
import { processesRuns } from '../../../../workers/exchange/itsm-run.ts';
import type { PlannedKill } from './plan.ts';
import { stages, watchStages } from './stages.ts';

/** Records of a page, so that few records make many. */
const PAGE = 20;
/** A statement on its way is with the server by then, or answered. */
const ON_ITS_WAY_MS = 3;

export const plainProcessor: JobProcessor = processesRuns({ clock: systemClock, page: PAGE });

/** Runs as they ship but for their pages, by workers that kill themselves where the table says so. */
const killedProcessor: JobProcessor = {
  ...plainProcessor,
  async run(job, services) {
    const kill: PlannedKill | undefined = (await services.db('planned_kills').first('kill'))?.kill;
    if (kill?.by !== 'statement') return await plainProcessor.run(job, services);
    let statements = 0;
    const unwatch = watchStages(services.db, (stage, moment) => {
      if (stages.indexOf(stage) < stages.indexOf(kill.stage)) return;
      if (moment === 'before') statements += 1;
      if (statements < kill.statement) return;
      if (kill.moment === 'sent') setTimeout(die, Math.random() * ON_ITS_WAY_MS);
      else if (kill.moment === moment) die();
    });
    try {
      return await plainProcessor.run(job, services);
    } finally {
      unwatch();
    }
  },
};

const die = () => process.kill(process.pid, 'SIGKILL');

export const processors = [killedProcessor];
