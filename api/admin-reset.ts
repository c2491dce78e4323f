import { randomBytes } from 'node:crypto';
import { boot } from '../boot.ts';
import { resetAdministrator } from '../domain/access/admin-reset.ts';
import { systemContext } from '../domain/kernel/services.ts';
import { failStartup } from '../platform/startup.ts';

// npm run admin:reset [e-mail address]
try {
  const { services, lifecycle } = await boot('admin reset', { exclusive: false });
  const ctx = await systemContext(services, 'admin:reset');
  const password = randomBytes(15).toString('base64url');
  const email = await resetAdministrator(ctx, process.argv[2], password);
  console.info(`Administrator  ${email}\nPassword       ${password}\nAll sessions of this user have ended.`);
  await lifecycle.shutdown('done');
} catch (error) {
  failStartup(error);
}
