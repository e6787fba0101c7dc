const ADDRESS = /^lrn:agents\/([^/]+)\/environments\/([^/]+)$/;

/** Form of the address of an agent, for errors. */
export const ADDRESS_FORM = 'lrn:agents/<id>/environments/<environment>';

/** Name of the project with the runs of an agent in one of its environments. */
export function agentProject(id: string, environment: string): string {
  return `${id}/${environment.toLowerCase()}`;
}

/** Name of the project that an agent's address stands for; undefined for text of another form. */
export function projectOfAddress(address: string): string | undefined {
  const [, id, environment] = ADDRESS.exec(address) ?? [];
  return id !== undefined && environment !== undefined ? agentProject(id, environment) : undefined;
}
