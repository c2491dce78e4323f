/** Users that hold stakeholder roles in the landscape; they have no password. */
export const benchUsers: { email: string; display_name: string }[] = Array.from({ length: 200 }, (_, at) => ({
  email: `person${String(at + 1).padStart(3, '0')}@bench.example`,
  display_name: `Person ${at + 1}`,
}));

/** Tag groups of the landscape. */
export const benchTagGroups: { name: string; tags: string[] }[] = [
  { name: 'Region', tags: ['North', 'South', 'East', 'West', 'Central', 'Overseas'] },
  { name: 'Wave', tags: ['First', 'Second', 'Third', 'Later'] },
  { name: 'Audience', tags: ['Customers', 'Staff', 'Partners', 'Authorities', 'Public'] },
];

/** All tags in the form `Group/Tag`. */
export const benchTags: string[] = benchTagGroups.flatMap(({ name, tags }) =>
  tags.map((tag) => `${name}/${tag}`),
);
