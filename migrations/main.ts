import { boot } from '../boot.ts';
import { failStartup } from '../platform/startup.ts';

try {
  const { lifecycle } = await boot('migrate', { exclusive: false });
  console.info('The database schema is up to date.');
  await lifecycle.shutdown('done');
} catch (error) {
  failStartup(error);
}
