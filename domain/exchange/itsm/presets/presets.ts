import Type, { type Static } from 'typebox';
import { fieldError, invalidFields } from '../../../../platform/errors.ts';
import { component, OpenObject, object } from '../../../kernel/shapes.ts';
import type { ConnectionCreate } from '../connections.input.ts';
import type { MappingCreate } from '../mappings.input.ts';
import backstage from './backstage-catalogue.json' with { type: 'json' };
import entra from './entra-applications.json' with { type: 'json' };
import gitHub from './github-repositories.json' with { type: 'json' };
import okta from './okta-applications.json' with { type: 'json' };
import cycloneDx from './sbom-cyclonedx.json' with { type: 'json' };
import spdx from './sbom-spdx.json' with { type: 'json' };

const PresetParameter = object({
  name: Type.String(),
  description: Type.String(),
  example: Type.String(),
  pattern: Type.String({ description: 'A regular expression that values match' }),
});
const PresetField = object({
  card_type_key: Type.String(),
  key: Type.String(),
  label: Type.String(),
  type: Type.String(),
});

export const PresetItem = component('ItsmPreset', {
  key: Type.String(),
  label: Type.String(),
  documentation: Type.String({ description: 'The page of this documentation' }),
  api_documentation: Type.String({ description: 'The documentation of the API' }),
  parameters: Type.Array(PresetParameter),
  credentials: Type.Array(Type.String(), {
    description: 'The members of the connection to give with the preset',
  }),
  connection: { ...OpenObject, description: 'The members of the connection, with parameters in braces' },
  card_fields: Type.Array(PresetField, {
    description: 'Fields that the mappings use and a new workspace does not have',
  }),
  mappings: Type.Array(OpenObject, { description: 'Bodies of mappings, without the id of the connection' }),
});

export interface Preset
  extends Pick<Static<typeof PresetItem>, 'key' | 'label' | 'documentation' | 'parameters'> {
  api_documentation: string;
  credentials: string[];
  connection: Pick<ConnectionCreate, 'auth_type' | 'oauth' | 'api_key' | 'sources'> & {
    instance_url: string;
  };
  card_fields: Static<typeof PresetField>[];
  mappings: Omit<MappingCreate, 'connection_id'>[];
}

/** Connections to well-known sources, as they are described in `docs/integrations`. */
export const presets = [backstage, entra, gitHub, okta, cycloneDx, spdx] as unknown as readonly Preset[];

/**
 * The input of a connection with the members of its preset, which those of the input replace.
 * @throws EstateError `validation_failed` for an unknown preset, and a missing or unknown parameter.
 */
export function applyPreset({
  preset: key,
  preset_parameters: given = {},
  ...input
}: ConnectionCreate): Omit<ConnectionCreate, 'preset' | 'preset_parameters'> {
  if (key === undefined) {
    if (Object.keys(given).length === 0) return input;
    throw invalidFields([fieldError('preset_parameters', 'not_offered', 'is only for a preset')]);
  }
  const preset = presets.find((one) => one.key === key);
  if (!preset) {
    const message = `is not a preset; ${presets.map((one) => one.key).join(', ')} are`;
    throw invalidFields([fieldError('preset', 'unknown_option', message)]);
  }
  const names = preset.parameters.map(({ name }) => name);
  const errors = [
    ...names
      .filter((name) => !given[name] && input.instance_url === undefined)
      .map((name) => fieldError(`preset_parameters.${name}`, 'required', `is needed for ${key}`)),
    ...Object.keys(given)
      .filter((name) => !names.includes(name))
      .map((name) =>
        fieldError(`preset_parameters.${name}`, 'unknown_option', `is not a parameter of ${key}`),
      ),
    ...preset.parameters
      .filter(({ name, pattern }) => given[name] && !new RegExp(pattern).test(given[name]))
      .map(({ name, description, example }) => {
        const message = `is not as expected: ${description}, such as ${example}`;
        return fieldError(`preset_parameters.${name}`, 'format', message);
      }),
  ];
  if (errors.length > 0) throw invalidFields(errors);
  const text = JSON.stringify(preset.connection).replace(/\{([a-z]+)\}/g, (found, name: string) =>
    names.includes(name) && given[name] ? JSON.stringify(given[name]).slice(1, -1) : found,
  );
  return { kind: 'http', ...JSON.parse(text), ...input };
}
