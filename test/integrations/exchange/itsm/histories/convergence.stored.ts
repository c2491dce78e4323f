import fc from 'fast-check';
import type { Ctx } from '../../../../../domain/kernel/context.ts';
import type { Services } from '../../../../../domain/kernel/services.ts';
import { expectConvergence } from './convergence.ts';
import { histories } from './steps.ts';
import { createStored, storedSetting } from './stored.ts';

/** The property that both sides converge in PostgreSQL and an emulated remote. */
export const everyStoredHistoryConverges = (services: Services, context: () => Promise<Ctx>) =>
  fc.asyncProperty(histories, async ({ steps, setting: given }) => {
    const setting = storedSetting(given);
    const landscape = await createStored(services, await context(), setting);
    try {
      await expectConvergence({ steps, setting }, landscape);
    } finally {
      await landscape.close();
    }
  });
