import type { Ctx } from '../../../domain/kernel/context.ts';
import { csdlJson } from './csdl/csdl.json.ts';
import { csdlXml } from './csdl/csdl.xml.ts';
import { odataModel } from './model/model.build.ts';
import { contextOf } from './odata.context.ts';
import type { Wire } from './odata.wire.ts';

/** The metadata document with what the caller may read. */
export function metadataDocument(ctx: Ctx, form: 'xml' | 'json', version: Wire['version']): string {
  const model = odataModel(ctx);
  return form === 'json' ? csdlJson(model) : csdlXml(model, version);
}

/** The service document: the names and URLs of the sets. */
export function serviceDocument(ctx: Ctx, wire: Wire): string {
  const value = [...odataModel(ctx).sets.values()].map(({ name, label }) => ({
    name,
    title: label,
    kind: 'EntitySet',
    url: `${wire.root}/${name}`,
  }));
  const context = contextOf(wire, '').map((member) => member.replace('$metadata#"', '$metadata"'));
  return `{${[...context, `"value":${JSON.stringify(value)}`].join(',')}}`;
}

/** The file that opens Power BI on this service. */
export function pbidsFile(root: string): string {
  const connection = {
    details: { protocol: 'odata', address: { url: root } },
    options: {},
    mode: 'Import',
  };
  return JSON.stringify({ version: '0.1', connections: [connection] });
}
