import { readFileSync } from 'node:fs';

const pem = (name: string): string =>
  readFileSync(new URL(`./certificates.${name}.pem`, import.meta.url), 'utf8');

/** Certificates for 127.0.0.1 that only clients configured with this authority trust; valid for a hundred years. */
export const authority = pem('authority.cert');
export const serverCertificate = { cert: pem('server.cert'), key: pem('server.key') };
export const clientCertificate = { cert: pem('client.cert'), key: pem('client.key') };
