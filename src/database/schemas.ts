/** LangGraph's own tables live apart from Gantry's, so that either side's migrations can't touch the other's. */
export const CHECKPOINT_SCHEMA = 'langgraph';
