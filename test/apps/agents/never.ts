/** A graph that waits for something which fails, such as a server for tools. */
export const never = Promise.reject(new Error('The tool server is away'));
