import { notFound } from '../../../platform/errors.ts';
import { GROUP_SCHEMA, MAX_RESULTS, USER_SCHEMA } from './scim.resources.ts';

const CORE = 'urn:ietf:params:scim:schemas:core:2.0';

interface Attribute {
  name: string;
  type: string;
  multiValued: boolean;
  description: string;
  required: boolean;
  caseExact: boolean;
  mutability: string;
  returned: string;
  uniqueness: string;
  referenceTypes?: string[];
  subAttributes?: Attribute[];
}

const attribute = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: 'string',
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...more,
});

const readOnly = { mutability: 'readOnly' };
const externalId = attribute('externalId', 'What the provisioning client calls it', { caseExact: true });

const userAttributes = [
  attribute('userName', 'Under which the provider knows the person', {
    required: true,
    uniqueness: 'server',
  }),
  externalId,
  attribute('displayName', 'What the person is called'),
  attribute('name', 'Parts of the name', {
    type: 'complex',
    subAttributes: [
      attribute('formatted', 'The display name'),
      attribute('givenName', 'First name'),
      attribute('familyName', 'Last name'),
    ],
  }),
  attribute('active', 'Whether the person may log in', { type: 'boolean' }),
  attribute('emails', 'The one e-mail address; without it the userName is taken', {
    type: 'complex',
    multiValued: true,
    uniqueness: 'server',
    subAttributes: [
      attribute('value', 'The address', { uniqueness: 'server' }),
      attribute('type', 'Always work', readOnly),
      attribute('primary', 'Always true', { type: 'boolean', ...readOnly }),
    ],
  }),
  attribute('groups', 'The groups that the person is in', {
    type: 'complex',
    multiValued: true,
    ...readOnly,
    subAttributes: [
      attribute('value', 'The id of the group', { caseExact: true, ...readOnly }),
      attribute('$ref', 'The group', { type: 'reference', referenceTypes: ['Group'], ...readOnly }),
      attribute('display', 'The name of the group', readOnly),
      attribute('type', 'Always direct', readOnly),
    ],
  }),
  attribute('roles', 'The role in the service', {
    type: 'complex',
    multiValued: true,
    ...readOnly,
    subAttributes: [
      attribute('value', 'The key of the role', { caseExact: true, ...readOnly }),
      attribute('primary', 'Always true', { type: 'boolean', ...readOnly }),
    ],
  }),
];

const groupAttributes = [
  attribute('displayName', 'The name of the group', { required: true, uniqueness: 'server' }),
  externalId,
  attribute('members', 'The people in the group', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      attribute('value', 'The id of the user', { caseExact: true, mutability: 'immutable' }),
      attribute('$ref', 'The user', {
        type: 'reference',
        referenceTypes: ['User'],
        mutability: 'immutable',
      }),
      attribute('display', 'What the person is called', readOnly),
      attribute('type', 'Always User', { mutability: 'immutable' }),
    ],
  }),
];

const schema = (id: string, name: string, description: string, attributes: Attribute[]) => ({
  schemas: [`${CORE}:Schema`],
  id,
  name,
  description,
  attributes,
  meta: { resourceType: 'Schema', location: `Schemas/${id}` },
});

const resourceType = (name: string, id: string) => ({
  schemas: [`${CORE}:ResourceType`],
  id: name,
  name,
  endpoint: `/${name}s`,
  schema: id,
  meta: { resourceType: 'ResourceType', location: `ResourceTypes/${name}` },
});

/** The schemas of the resources (RFC 7643, 7). */
export const scimSchemas = [
  schema(USER_SCHEMA, 'User', 'A person with an account', userAttributes),
  schema(GROUP_SCHEMA, 'Group', 'A group of people, to which the settings may tie a role', groupAttributes),
];

/** The types of resources (RFC 7643, 6). */
export const scimResourceTypes = [resourceType('User', USER_SCHEMA), resourceType('Group', GROUP_SCHEMA)];

/** What of the protocol is there (RFC 7643, 5). */
export const serviceProviderConfig = {
  schemas: [`${CORE}:ServiceProviderConfig`],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MAX_RESULTS },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'A token of a service account whose role holds admin.users',
      specUri: 'https://www.rfc-editor.org/info/rfc6750',
      primary: true,
    },
    {
      type: 'httpbasic',
      name: 'Basic authorization',
      description: 'The same token as the password, under any user name',
      specUri: 'https://www.rfc-editor.org/info/rfc7617',
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: 'ServiceProviderConfig' },
};

/** A list as it is answered whole. */
export function unpagedList<T>(resources: T[]) {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: resources.length,
    startIndex: 1,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

/** One of the schemas or types by its id, in any case. @throws EstateError `not_found`. */
export function described<T extends { id: string }>(list: T[], id: string): T {
  const found = list.find((item) => item.id.toLowerCase() === id.toLowerCase());
  if (!found) throw notFound('description', id);
  return found;
}
