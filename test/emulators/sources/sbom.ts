const purl = (at: number) => `pkg:npm/lib-${at}@1.${at}.0`;

/** A file in the format CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). @param from the number of its first component. */
export const cycloneDx = (count: number, from = 0): object => ({
  $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  serialNumber: 'urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79',
  version: 1,
  metadata: { timestamp: '2026-01-05T07:00:00Z', component: { type: 'application', name: 'shop' } },
  components: Array.from({ length: count }, (_, at) => ({
    type: 'library',
    'bom-ref': purl(from + at),
    group: at % 3 === 0 ? '@example' : '',
    name: `lib-${from + at}`,
    version: `1.${from + at}.0`,
    purl: purl(from + at),
    licenses: [{ license: { id: 'MIT' } }, ...(at % 2 === 0 ? [{ license: { id: 'Apache-2.0' } }] : [])],
  })),
});

/** A file in the format SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/package-information/). */
export const spdx = (count: number, from = 0): object => ({
  spdxVersion: 'SPDX-2.3',
  dataLicense: 'CC0-1.0',
  SPDXID: 'SPDXRef-DOCUMENT',
  name: 'shop',
  packages: Array.from({ length: count }, (_, at) => ({
    SPDXID: `SPDXRef-Package-${from + at}`,
    name: `lib-${from + at}`,
    versionInfo: `1.${from + at}.0`,
    downloadLocation: 'NOASSERTION',
    licenseConcluded: 'MIT',
    ...(at % 5 === 0 ? { validUntilDate: '2027-06-30T00:00:00Z' } : {}),
    externalRefs: [
      { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl(from + at) },
    ],
  })),
});
