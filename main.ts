import { serve } from './api/serve.ts';
import { boot, welcomeFirstAdministrator } from './boot.ts';
import { failStartup } from './platform/startup.ts';
import { startWorkers } from './workers/runtime.ts';

try {
  const { services, lifecycle } = await boot('estate', { exclusive: true });
  const workers = await startWorkers(services);
  lifecycle.onClose('workers', (remainingMs) => workers.close(remainingMs));
  const admin = await welcomeFirstAdministrator(services);
  const api = await serve(services);
  lifecycle.onClose('API', () => api.close());

  const { config } = services;
  const lines = [`Estate is ready at ${api.address}   API page: ${api.address}/api/docs`];
  if (admin?.password) {
    lines.push(
      '',
      `  Administrator  ${admin.email}`,
      `  Password       ${admin.password}`,
      '',
      `Shown once; it is kept in ${config.dataDir}/first-administrator.txt. Lost it? npm run admin:reset`,
    );
  }
  console.info(lines.join('\n'));
} catch (error) {
  failStartup(error);
}
