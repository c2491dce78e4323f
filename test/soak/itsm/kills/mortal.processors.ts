import type { JobProcessor } from '../../../../domain/kernel/jobs/jobs.running.ts';
import { systemClock } from '../../../../integrations/itsm/remote.ts';
import { processesRuns } from '../../../../workers/itsm-run.ts';
import type { Death } from './deaths.ts';
import { stages, watchStages } from './stages.ts';

/** Records of a page, so that few records make many. */
const PAGE = 20;
/** A statement on its way is with the server by then, or answered. */
const ON_ITS_WAY_MS = 3;

export const undying: JobProcessor = processesRuns({ clock: systemClock, page: PAGE });

/** Runs as they ship but for their pages, by workers that die where the table says so. */
const mortal: JobProcessor = {
  ...undying,
  async run(job, services) {
    const death: Death | undefined = (await services.db('deaths').first('death'))?.death;
    if (death?.by !== 'statement') return await undying.run(job, services);
    let statements = 0;
    const unwatch = watchStages(services.db, (stage, moment) => {
      if (stages.indexOf(stage) < stages.indexOf(death.stage)) return;
      if (moment === 'before') statements += 1;
      if (statements < death.statement) return;
      if (death.moment === 'sent') setTimeout(die, Math.random() * ON_ITS_WAY_MS);
      else if (death.moment === moment) die();
    });
    try {
      return await undying.run(job, services);
    } finally {
      unwatch();
    }
  },
};

const die = () => process.kill(process.pid, 'SIGKILL');

export const processors = [mortal];
