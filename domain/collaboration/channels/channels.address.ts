import type { Outbound } from '../../../platform/outbound.ts';
import type { ChannelKind } from './channels.model.ts';

/** The hosts of each service; those with a dot in front with all below them. */
const hosts: Record<ChannelKind, readonly string[]> = {
  slack: ['hooks.slack.com', 'hooks.slack-gov.com'],
  teams: ['.logic.azure.com', '.logic.azure.us', '.environment.api.powerplatform.com'],
};

/**
 * Why an address is no incoming webhook of the service, or undefined.
 * @param mayNameHosts whether hosts that OUTBOUND_ALLOW names are allowed, too: they are servers of the operator.
 */
export function addressRefusal(
  outbound: Pick<Outbound, 'refusal' | 'isNamed'>,
  kind: ChannelKind,
  url: string,
  mayNameHosts: boolean,
): string | undefined {
  const refused = outbound.refusal(url);
  if (refused !== undefined) return refused;
  if (mayNameHosts && outbound.isNamed(url)) return undefined;
  const { hostname } = new URL(url);
  const isKnown = hosts[kind].some((host) =>
    host.startsWith('.') ? hostname.endsWith(host) : hostname === host,
  );
  return isKnown
    ? undefined
    : `is no webhook of ${hosts[kind].map((host) => host.replace(/^\./, '*.')).join(', ')}`;
}
